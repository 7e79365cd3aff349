#include <fmt/core.h>

#include <functional>

#include "core/error.h"
#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {
namespace {

constexpr double kLeastShare = 1e-3;

/// Calls `read` for every element of a list of objects, each with its place.
void for_each_object(ObjectReader& parent, const std::string& key,
                     const std::function<void(ObjectReader)>& read) {
  if (!parent.has(key)) return;
  const Json& list = parent.value(key);
  if (!list.is_array()) parent.fail(key, "must be a list of objects, found " + describe(list));
  for (std::size_t i = 0; i < list.size(); ++i)
    read(ObjectReader(list[i], fmt::format("{}/{}", parent.where(key), i)));
}

void read_failed_links(ObjectReader& parent, Conditions& conditions) {
  const char* const key = "failed_links";
  if (!parent.has(key)) return;
  const Json& list = parent.value(key);
  if (!list.is_array())
    parent.fail(key, "must be a list of links such as \"leaf0 - spine1\", found " + describe(list));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("{}/{}", parent.where(key), i);
    if (!list[i].is_string())
      throw ConfigError(where + ": must be a link such as \"leaf0 - spine1\", found " +
                        describe(list[i]));
    conditions.links.push_back({list[i].get<std::string>(), 0, BytesPerSec{0}, where});
  }
}

Conditions::Jitter read_jitter(ObjectReader object, Mesh dp) {
  constexpr std::int64_t kMostSeed = std::int64_t{1} << 53;
  constexpr int kMostSamples = 1'000'000;
  Conditions::Jitter jitter;
  jitter.sigma = object.number("sigma", 0, 1);
  jitter.seed = static_cast<std::uint64_t>(object.integer_or("seed", 0, kMostSeed, 0));
  jitter.samples = static_cast<int>(object.integer_or("samples", 1, kMostSamples, jitter.samples));
  if (object.has("ranks")) {
    const bool is_name = object.value("ranks").is_string();
    if (is_name) object.choice("ranks", {"node"});
    jitter.ranks = is_name ? dp.intra : static_cast<int>(object.integer("ranks", 1, dp.size()));
  }
  object.finish();
  return jitter;
}

}  // namespace

Conditions read_conditions(ObjectReader object, Mesh dp) {
  Conditions conditions;
  for_each_object(object, "slow_gpus", [&](ObjectReader gpus) {
    conditions.slow_gpus.push_back(
        {gpus.string("at"), gpus.number("speed", kLeastShare, 1), gpus.where("at")});
    gpus.finish();
  });
  for_each_object(object, "slow_links", [&](ObjectReader links) {
    conditions.links.push_back({links.string("at"), links.number("capacity", kLeastShare, 1),
                                BytesPerSec{0}, links.where("at")});
    links.finish();
  });
  for_each_object(object, "background_traffic", [&](ObjectReader traffic) {
    conditions.links.push_back(
        {traffic.string("at"), 1, traffic.bandwidth("rate"), traffic.where("at")});
    traffic.finish();
  });
  read_failed_links(object, conditions);
  if (object.has("jitter")) conditions.jitter = read_jitter(object.object("jitter"), dp);
  object.finish();
  return conditions;
}

}  // namespace amsp
