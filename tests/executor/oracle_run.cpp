// Trains a small model in fp64 and prints all that another implementation needs to do the same, and
// what came of it, as JSON: oracle-run VARIANT, with VARIANT plain, fused or biased-tied.
#include <cstdio>
#include <cstring>

#include "core/json/json.h"
#include "executor/program/initial_values.h"
#include "local_parity.h"

namespace amsp {
namespace {

constexpr int kSteps = 20;

Scenario scenario_of(const char* variant) {
  Scenario scenario = tiny_scenario({2, 1}, 8, "zero3", 2);
  scenario.training.sequence_length = 16;
  scenario.training.micro_batch = 2;
  ModelSpec& model = scenario.model;
  model.hidden = 24;
  model.heads = 4;
  model.kv_heads = 2;
  if (std::strcmp(variant, "fused") == 0) model.fused_qkv = model.fused_gate_up = true;
  if (std::strcmp(variant, "biased-tied") == 0)
    model.qkv_bias = model.output_bias = model.mlp_bias = model.tied_embeddings = true;
  return scenario;
}

OrderedJson run(const Scenario& scenario) {
  const ExecutionOptions options = local_parity(kSteps).options();
  const Hyperparameters& hyper = options.hyper;
  const ModelSpec& model = scenario.model;
  const Execution execution = run_local_ranks(scenario, options);
  OrderedJson json;
  json["model"] = {
      {"layers", model.layers},     {"heads", model.heads},        {"kv_heads", model.kv_heads},
      {"head_dim", model.head_dim}, {"hidden", model.hidden},      {"ffn", model.ffn},
      {"vocab", model.vocab},       {"theta", hyper.rotary_theta}, {"eps", hyper.norm_epsilon}};
  json["optimizer"] = {{"lr", hyper.learning_rate},
                       {"betas", {hyper.beta1, hyper.beta2}},
                       {"eps", hyper.epsilon},
                       {"weight_decay", hyper.weight_decay},
                       {"max_norm", hyper.max_norm}};
  const auto tokens = synthetic_tokens(model.vocab, 1);
  std::vector<std::int32_t> sequence(static_cast<std::size_t>(scenario.training.sequence_length) +
                                     1);
  OrderedJson batches = OrderedJson::array();
  for (std::int64_t step = 0; step < kSteps; ++step) {
    OrderedJson batch = OrderedJson::array();
    for (std::int64_t i = 0; i < scenario.global_batch(); ++i) {
      tokens->fill(step * scenario.global_batch() + i, sequence);
      batch.push_back(sequence);
    }
    batches.push_back(batch);
  }
  json["batches"] = batches;
  const std::vector<Tensor> tensors = model_tensors(model);
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    std::vector<double> initial(static_cast<std::size_t>(tensors[id].elements));
    initial_values(tensors[id], static_cast<TensorId>(id), hyper.seed, hyper.initial_deviation, 0,
                   initial);
    json["initial"][tensors[id].name] = initial;
    json["trained"][tensors[id].name] = execution.parameters[id];
  }
  json["losses"] = execution.losses;
  return json;
}

}  // namespace
}  // namespace amsp

int main(int argc, char** argv) {
  const amsp::OrderedJson json = amsp::run(amsp::scenario_of(argc > 1 ? argv[1] : "plain"));
  std::puts(json.dump().c_str());
}
