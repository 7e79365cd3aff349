#include <algorithm>
#include <numeric>
#include <vector>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/scratch.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

template <typename T>
void embed(const Embedding& work) {
  const T* const table = static_cast<const T*>(work.table);
  T* const out = static_cast<T*>(work.out);
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const std::int32_t token = work.tokens[row];
    if (token < 0) throw DeviceError(fmt::format("token {} of the batch is {}", row, token));
    std::copy_n(table + token * work.n, work.n, out + row * work.n);
  }
}

/// Adds rows[first..last) of dout to one row of the table; sums are rounded once.
template <typename T, typename G>
AMSP_VECTOR_CLONES void add_rows(const std::int64_t* first, const std::int64_t* last,
                                 std::int64_t n, const T* dout, Wide<T>* sums, G* table_row) {
  std::fill_n(sums, n, Wide<T>(0));
  for (; first != last; ++first) {
    const T* const row = dout + *first * n;
    for (std::int64_t i = 0; i < n; ++i) sums[i] += widen(row[i]);
  }
  for (std::int64_t i = 0; i < n; ++i) table_row[i] = round_to<G>(widen(table_row[i]) + sums[i]);
}

template <typename T, typename G>
void embed_backward(const EmbeddingBackward& work) {
  G* const table = static_cast<G*>(work.dtable);
  if (!work.accumulate) std::fill_n(table, work.vocab * work.n, round_to<G>(0.0F));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(work.rows));
  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t left, std::int64_t right) {
    return work.tokens[left] < work.tokens[right];
  });
  Scratch scratch;
  Wide<T>* const sums = scratch.take<Wide<T>>(work.n);
  const std::int64_t* const end = rows.data() + rows.size();
  for (const std::int64_t* first = rows.data(); first != end;) {
    const std::int32_t token = work.tokens[*first];
    if (token < 0 || token >= work.vocab)
      throw DeviceError(fmt::format("token {} of the batch is {}, outside the vocabulary of {}",
                                    *first, token, work.vocab));
    const std::int64_t* const last =
        std::find_if(first, end, [&](std::int64_t row) { return work.tokens[row] != token; });
    add_rows(first, last, work.n, static_cast<const T*>(work.dout), sums, table + token * work.n);
    first = last;
  }
}

}  // namespace

void run(const Embedding& work) {
  with_type(work.type, [&](auto type) { embed<decltype(type)>(work); });
}

void run(const EmbeddingBackward& work) {
  with_types(work.type, work.grad_type, [&](auto type, auto grad_type) {
    embed_backward<decltype(type), decltype(grad_type)>(work);
  });
}

}  // namespace amsp::host
