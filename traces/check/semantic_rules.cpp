#include <fmt/core.h>

#include <limits>

#include "core/json/object_reader.h"
#include "schedule/task_key.h"
#include "traces/check/kernel_rules.h"
#include "traces/terms/trace_text.h"
#include "traces/terms/traffic_class.h"

namespace amsp {
namespace {

constexpr const char* kCollectiveStrings[] = {
    "Collective name",     "dtype", "Process Group Name", "Process Group Description",
    "Process Group Ranks",
};
constexpr const char* kCollectiveNumbers[] = {
    "In msg nelems", "Out msg nelems", "Group size", "Seq", "wait_ns", "xfer_ns",
};

class SemanticCheck {
 public:
  SemanticCheck(const ScannedEvent& kernel, const Json& args, Violations& violations)
      : kernel_(kernel), args_(args), violations_(violations) {}

  void run() {
    const Json& sk = member(args_, "sk");
    const auto key = sk.is_string() ? parse_task_key(sk.get<std::string>()) : std::nullopt;
    if (!key) {
      violations_.add(kernel_.number, "args.sk must be a task key, found " + found(args_, "sk"));
      return;
    }
    agree("step", key->step);
    agree("mb", key->micro_batch);
    agree("phase", key->phase);
    agree("layer", key->layer);
    agree("module", key->module);
    agree("op", key->op);
    const Json& name = member(kernel_.value, "name");
    const bool is_nccl = name.is_string() && name.get<std::string>().starts_with("nccl");
    const bool is_traffic = !traffic_class(key->phase, key->op).empty();
    if (is_nccl != is_traffic)
      violations_.add(kernel_.number,
                      is_traffic ? "the name of a communication kernel must begin with 'nccl'"
                                 : "only the name of a communication kernel may begin with 'nccl'");
    check_launched();
    if (!is_traffic) return;
    agree("group", key->mesh);
    check_collective();
  }

 private:
  void agree(const char* field, const Json& expected) {
    if (member(args_, field) != expected)
      violations_.add(kernel_.number, fmt::format("args.{} must be {}, as in args.sk, found {}",
                                                  field, describe(expected), found(args_, field)));
  }

  void check_launched() {
    if (!args_.contains("kernels")) return;
    const Json& kernels = args_["kernels"];
    if (!kernels.is_array() || kernels.empty()) {
      violations_.add(kernel_.number, "args.kernels must be an array that is not empty, found " +
                                          found(args_, "kernels"));
      return;
    }
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Json& kernel = kernels[i];
      const Json& name = member(kernel, "kernel");
      const Json& after = member(kernel, "after_ns");
      if (!kernel.is_object() || kernel.size() != 3 || !name.is_string() ||
          name.get_ref<const std::string&>().empty() || !after.is_number_integer() ||
          !member(kernel, "dur_ns").is_number_unsigned()) {
        violations_.add(
            kernel_.number,
            fmt::format("args.kernels/{} must have a name as kernel, a whole number as after_ns, a "
                        "whole number >= 0 as dur_ns and nothing else, found {}",
                        i, describe(kernel)));
        return;
      }
      if (after.get<std::int64_t>() < last)
        violations_.add(kernel_.number,
                        fmt::format("args.kernels/{} starts before the one that it follows", i));
      last = after.get<std::int64_t>();
    }
  }

  void check_collective() {
    for (const char* field : kCollectiveStrings)
      if (!member(args_, field).is_string())
        violations_.add(kernel_.number, fmt::format("args.{} must be a string, found {}", field,
                                                    found(args_, field)));
    bool have_times = true;
    for (const char* field : kCollectiveNumbers) {
      if (member(args_, field).is_number_unsigned()) continue;
      have_times = false;
      violations_.add(kernel_.number, fmt::format("args.{} must be a whole number >= 0, found {}",
                                                  field, found(args_, field)));
    }
    const auto duration = parse_us(kernel_.dur);
    if (!have_times || !duration) return;
    const auto sum = args_["wait_ns"].get<std::int64_t>() + args_["xfer_ns"].get<std::int64_t>();
    if (Nanoseconds{sum} != *duration)
      violations_.add(kernel_.number, fmt::format("wait_ns + xfer_ns is {}, but dur is {} ns", sum,
                                                  duration->value));
  }

  const ScannedEvent& kernel_;
  const Json& args_;
  Violations& violations_;
};

}  // namespace

void check_semantic_args(const ScannedEvent& kernel, const Json& args, Violations& violations) {
  SemanticCheck(kernel, args, violations).run();
}

}  // namespace amsp
