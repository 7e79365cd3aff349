#include "core/json/sax_tree.h"

#include <fmt/core.h>

#include <utility>

#include "core/json/json_syntax.h"

namespace amsp {
namespace {

constexpr std::size_t kMaxDepth = 64;

}  // namespace

bool SaxTree::key(string_t& key) {
  key_ = std::move(key);
  after_key_ = true;
  return true;
}

bool SaxTree::parse_error(std::size_t position, const std::string&,
                          const nlohmann::detail::exception& error) {
  constexpr int kNumberOverflow = 406;  // nlohmann's exception id
  using Container = JsonPlace::Container;
  const Container container = open_.empty()               ? Container::kNone
                              : open_.back()->is_object() ? Container::kObject
                                                          : Container::kArray;
  const JsonPlace place{container, after_key_, position};
  return fail(error.id == kNumberOverflow ? explain_overflow(text_, place)
                                          : explain_syntax_error(text_, place),
              true);
}

Json& SaxTree::place(Json value) {
  after_key_ = false;
  if (open_.empty()) return root_ = std::move(value);
  Json& parent = *open_.back();
  if (parent.is_object()) return parent[key_] = std::move(value);
  parent.push_back(std::move(value));
  return parent.back();
}

bool SaxTree::add(Json value) {
  place(std::move(value));
  complete();
  return true;
}

bool SaxTree::open(Json container) {
  if (open_.size() == kMaxDepth)
    return fail(fmt::format("is nested deeper than {} levels", kMaxDepth), false);
  open_.push_back(&place(std::move(container)));
  return true;
}

bool SaxTree::close() {
  open_.pop_back();
  complete();
  return true;
}

}  // namespace amsp
