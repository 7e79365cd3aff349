#pragma once

#include "executor/interface/device.h"

namespace amsp::host {

// The kernels of the host device, in the calling thread; what they compute is said in device.h.
// Each throws InternalError for types that it doesn't have, DeviceError for what is found wrong in
// the data (a token outside the vocabulary) or for lack of memory.

void run(const Gemm& work);
void run(const AddBias& work);
void run(const ColumnSum& work);
void run(const RmsNorm& work);
void run(const RmsNormBackward& work);
void run(const Rotary& work);
void run(const Attention& work);
void run(const AttentionBackward& work);
void run(const SwiGlu& work);
void run(const SwiGluBackward& work);
void run(const Embedding& work);
void run(const EmbeddingBackward& work);
void run(const CrossEntropy& work);
void run(const CrossEntropyBackward& work);
void run(const Add& work);
void run(const Convert& work);
void run(const SumOfSquares& work);
void run(const AdamW& work);

}  // namespace amsp::host
