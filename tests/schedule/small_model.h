#pragma once

#include "training/model.h"
#include "training/training.h"

namespace amsp {

/// Two layers, small enough to count by hand: 1 embedding of 20 x 8, two layers of
/// 8 + 4 x 64 + 8 + 3 x 96 = 560, final norm 8, head 160; in all 1448 parameters.
inline ModelSpec small_model() {
  ModelSpec model;
  model.name = "small";
  model.hidden = 8;
  model.layers = 2;
  model.heads = model.kv_heads = 2;
  model.head_dim = 4;
  model.ffn = 12;
  model.vocab = 20;
  return model;
}

inline TrainingSpec small_training(int micro_batches = 1) {
  TrainingSpec training;
  training.sequence_length = 16;
  training.micro_batches = micro_batches;
  training.optimizer = {"adam", 12, 28, "test"};
  return training;
}

}  // namespace amsp
