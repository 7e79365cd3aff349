#include "training/stack.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "data/embedded.h"

namespace amsp {
namespace {

template <class Enum>
void read_switch(ObjectReader& object, const char* key, const std::vector<std::string>& names,
                 Enum& value) {
  if (!object.has(key)) return;
  const std::string name = object.choice(key, names);
  value = static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

const std::vector<StackSpec>& presets() {
  static const std::vector<StackSpec> all = [] {
    const Json json = parse_json(embedded("stacks.json"), "stacks.json");
    ObjectReader root(json, "stacks.json#");
    root.choice("schema", {"amsp.stacks/1"});
    std::vector<StackSpec> stacks(1);
    stacks[0].source = "the executor's own kernels";
    for (const Json& entry : root.value("stacks")) {
      ObjectReader object(entry, fmt::format("{}/{}", root.where("stacks"), stacks.size() - 1));
      StackSpec spec;
      spec.name = object.string("name");
      spec.source = object.string("source");
      spec.engine_copies = true;
      read_stack_switches(object, spec);
      object.finish();
      stacks.push_back(std::move(spec));
    }
    root.finish();
    return stacks;
  }();
  return all;
}

}  // namespace

void read_stack_switches(ObjectReader& object, StackSpec& stack) {
  read_switch(object, "attention", {"math", "triton", "flash2", "flash3", "cudnn"},
              stack.attention);
  read_switch(object, "norm", {"eager", "native", "fused", "with_residual", "mixed"}, stack.norm);
  read_switch(object, "rotary", {"eager", "fused"}, stack.rotary);
  read_switch(object, "activation", {"eager", "fused"}, stack.activation);
  read_switch(object, "residual", {"add", "bias_dropout"}, stack.residual);
  read_switch(object, "qkv_gradients", {"added", "fused"}, stack.qkv_gradients);
  read_switch(object, "gate_up_gradients", {"added", "fused"}, stack.gate_up_gradients);
  read_switch(object, "bias_gradients", {"separate", "fused"}, stack.bias_gradients);
  read_switch(object, "qkv_layout", {"views", "cloned", "concatenated", "copied"},
              stack.qkv_layout);
  read_switch(object, "loss",
              {"softmax", "fp32", "fp32_shifted", "bf16", "compiled", "fused", "parallel",
               "metrics", "composer"},
              stack.loss);
  read_switch(object, "optimizer", {"foreach", "fused", "apex", "hybrid_zero", "deepspeed"},
              stack.optimizer);
  read_switch(object, "accumulation", {"in_product", "autograd", "separate", "fused"},
              stack.accumulation);
  stack.recompute_norms = object.boolean_or("recompute_norms", stack.recompute_norms);
  stack.engine_copies = object.boolean_or("engine_copies", stack.engine_copies);
}

const std::vector<std::string>& stack_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const StackSpec& spec : presets()) result.push_back(spec.name);
    return result;
  }();
  return names;
}

const StackSpec& stack_preset(const std::string& name) {
  for (const StackSpec& spec : presets())
    if (spec.name == name) return spec;
  throw InternalError(fmt::format("there is no stack '{}'", name));
}

StackSpec usual_stack(const std::string& engine) {
  if (engine == "amsp") return stack_preset("flash-fused");
  StackSpec stack = stack_preset("eager");
  if (engine == "deepspeed") stack.optimizer = OptimizerKernels::kDeepspeed;
  return stack;
}

}  // namespace amsp
