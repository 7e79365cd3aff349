#include "core/json/sax_error.h"

#include "core/json/json_syntax.h"

namespace amsp {

std::string explain_sax_error(std::string_view text, const Json* innermost, bool after_key,
                              std::size_t position, const nlohmann::detail::exception& error) {
  constexpr int kNumberOverflow = 406;  // nlohmann's exception id
  using Container = JsonPlace::Container;
  const Container container = innermost == nullptr     ? Container::kNone
                              : innermost->is_object() ? Container::kObject
                                                       : Container::kArray;
  const JsonPlace place{container, after_key, position};
  return error.id == kNumberOverflow ? explain_overflow(text, place)
                                     : explain_syntax_error(text, place);
}

}  // namespace amsp
