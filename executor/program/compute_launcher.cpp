// Over 400 lines: one case for every module of the model, forward and backward, side by side.
#include "executor/program/compute_launcher.h"

#include "core/error.h"
#include "executor/program/slots.h"

namespace amsp {

ComputeLauncher::ComputeLauncher(ProgramContext& context, ParameterStore& parameters,
                                 GradientStore& gradients, BufferId tokens, BufferId losses)
    : context_(context),
      parameters_(parameters),
      gradients_(gradients),
      tokens_(tokens),
      losses_(losses),
      rows_(context.training.tokens()),
      hidden_(context.model.hidden),
      q_width_(std::int64_t{context.model.heads} * context.model.head_dim),
      kv_width_(std::int64_t{context.model.kv_heads} * context.model.head_dim),
      ffn_(context.model.ffn),
      vocab_(context.model.vocab),
      q_stride_(context.model.fused_qkv ? q_width_ + 2 * kv_width_ : q_width_),
      kv_stride_(context.model.fused_qkv ? q_stride_ : kv_width_),
      gate_stride_(context.model.fused_gate_up ? 2 * ffn_ : ffn_),
      values_(static_cast<std::size_t>(block_count(context.model))) {}

TaskLaunch ComputeLauncher::prepare(const Task& task) {
  return task.key.phase == Phase::kBackward ? backward(task) : forward(task);
}

Ref ComputeLauncher::activation(std::int64_t columns) {
  return context_.make(MemoryUse::kActivations, context_.bytes(rows_ * columns));
}

Ref ComputeLauncher::touch(Ref ref) {
  AMSP_CHECK(ref.buffer >= 0, "{} reads what nothing wrote", context_.graph.key(context_.current));
  context_.use(ref.buffer);
  return ref;
}

/// The weight first, then the bias if there is one.
std::vector<TensorId> ComputeLauncher::tensors_of(const Task& task) const {
  std::vector<TensorId> ids;
  for (TensorId id = 0; id < static_cast<TensorId>(context_.tensors.size()); ++id) {
    const Tensor& tensor = context_.tensor(id);
    if (tensor.block == task.key.block && tensor.module == task.key.module) ids.push_back(id);
  }
  if (ids.empty() && task.key.module == Module::kHead) ids.push_back(0);  // tied to the embedding
  return ids;
}

TaskLaunch ComputeLauncher::linear(const Task& task, Ref x, Ref y, std::int64_t in,
                                   std::int64_t out) {
  const std::vector<TensorId> ids = tensors_of(task);
  const Ref weight = parameters_.whole(task.key.block, ids[0]);
  const Ref bias = ids.size() > 1 ? parameters_.whole(task.key.block, ids[1]) : Ref{};
  touch(x);
  touch(y);
  return [&device = context_.device, at = context_.addresses, type = context_.type, rows = rows_,
          weight, bias, x, y, in, out](Stream& stream, const StepContext&) {
    device.run(stream, Gemm{type, type, rows, out, in, (*at)(x), in, false, (*at)(weight), in, true,
                            (*at)(y), out, false});
    if (bias.buffer >= 0) device.run(stream, AddBias{type, rows, out, (*at)(y), out, (*at)(bias)});
  };
}

/// Y[T, out] = X[T, in] W[out, in]^T: dW = dY^T X, dX = dY W.
TaskLaunch ComputeLauncher::linear_backward(const Task& task, Ref x, Ref dy, Ref dx,
                                            std::int64_t in, std::int64_t out, bool accumulate_dx) {
  const std::vector<TensorId> ids = tensors_of(task);
  touch(dy);
  if (task.key.op == Op::kDgrad) {
    const Ref weight = parameters_.whole(task.key.block, ids[0]);
    touch(dx);
    return [&device = context_.device, at = context_.addresses, type = context_.type, rows = rows_,
            weight, dy, dx, in, out, accumulate_dx](Stream& stream, const StepContext&) {
      device.run(stream, Gemm{type, type, rows, in, out, (*at)(dy), out, false, (*at)(weight), in,
                              false, (*at)(dx), in, accumulate_dx});
    };
  }
  touch(x);
  TaskLaunch zero;
  const GradTarget weight = gradients_.target(task, ids[0], zero);
  const GradTarget bias = ids.size() > 1 ? gradients_.target(task, ids[1], zero) : GradTarget{};
  return [&device = context_.device, at = context_.addresses, type = context_.type,
          grad_type = context_.grad_type, rows = rows_, zero, weight, bias, x, dy, in,
          out](Stream& stream, const StepContext& step) {
    if (zero) zero(stream, step);
    device.run(stream, Gemm{type, grad_type, out, in, rows, (*at)(dy), out, true, (*at)(x), in,
                            false, (*at)(weight.ref), in, weight.accumulate});
    if (bias.ref.buffer >= 0)
      device.run(stream, ColumnSum{type, grad_type, rows, out, (*at)(dy), out, (*at)(bias.ref),
                                   bias.accumulate});
  };
}

TaskLaunch ComputeLauncher::norm(const Task& task, Ref x, Ref& y, Ref& rstd) {
  const Ref weight = parameters_.whole(task.key.block, tensors_of(task)[0]);
  touch(x);
  y = activation(hidden_);
  rstd = context_.make(MemoryUse::kActivations, context_.wide_bytes(rows_));
  return [&device = context_.device, at = context_.addresses, type = context_.type, rows = rows_,
          n = hidden_, eps = context_.hyper.norm_epsilon, x, weight, y,
          rstd](Stream& stream, const StepContext&) {
    device.run(stream, RmsNorm{type, rows, n, eps, (*at)(x), (*at)(weight), (*at)(y), (*at)(rstd)});
  };
}

TaskLaunch ComputeLauncher::norm_backward(const Task& task, Ref dy, Ref x, Ref rstd, Ref dx) {
  const TensorId id = tensors_of(task)[0];
  const Ref weight = parameters_.whole(task.key.block, id);
  for (const Ref ref : {dy, x, rstd, dx}) touch(ref);
  TaskLaunch zero;
  const GradTarget to = gradients_.target(task, id, zero);
  return [&device = context_.device, at = context_.addresses, type = context_.type,
          grad_type = context_.grad_type, rows = rows_, n = hidden_, zero, dy, x, weight, rstd, dx,
          to](Stream& stream, const StepContext& step) {
    if (zero) zero(stream, step);
    device.run(stream, RmsNormBackward{type, grad_type, rows, n, (*at)(dy), (*at)(x), (*at)(weight),
                                       (*at)(rstd), (*at)(dx), (*at)(to.ref), to.accumulate});
  };
}

TaskLaunch ComputeLauncher::rotary(Ref q, Ref k, bool inverse) {
  touch(q);
  touch(k);
  const ModelSpec& model = context_.model;
  Rotary work{context_.type,
              context_.training.micro_batch,
              context_.training.sequence_length,
              model.heads,
              model.head_dim,
              context_.hyper.rotary_theta,
              nullptr,
              q_stride_,
              inverse};
  return [&device = context_.device, at = context_.addresses, work, kv_heads = model.kv_heads,
          kv_stride = kv_stride_, q, k](Stream& stream, const StepContext&) mutable {
    Rotary one = work;
    one.x = (*at)(q);
    device.run(stream, one);
    one.heads = kv_heads;
    one.stride = kv_stride;
    one.x = (*at)(k);
    device.run(stream, one);
  };
}

TaskLaunch ComputeLauncher::residual(Ref a, Ref b, Ref y) {
  for (const Ref ref : {a, b, y}) touch(ref);
  return [&device = context_.device, at = context_.addresses, type = context_.type,
          n = rows_ * hidden_, a, b, y](Stream& stream, const StepContext&) {
    device.run(stream, Add{type, n, (*at)(a), (*at)(b), (*at)(y)});
  };
}

TaskLaunch ComputeLauncher::forward(const Task& task) {
  const auto block = static_cast<std::size_t>(task.key.block);
  Values& v = values_[block];
  const ModelSpec& model = context_.model;
  const auto begin_linear = [&](Ref x, Ref& y, std::int64_t in, std::int64_t out) {
    y = activation(out);
    return linear(task, x, y, in, out);
  };
  switch (task.key.module) {
    case Module::kEmbedding: {
      const Ref table = parameters_.whole(0, tensors_of(task)[0]);
      const Ref out = values_[1].input = activation(hidden_);
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              rows = rows_, n = hidden_, table, out,
              tokens = SlotTokens(context_.training, tokens_, task.key.micro_batch)](
                 Stream& stream, const StepContext& step) {
        device.run(stream, Embedding{type, rows, n,
                                     static_cast<const std::int32_t*>((*at)(tokens.inputs(step))),
                                     (*at)(table), (*at)(out)});
      };
    }
    case Module::kAttentionNorm:
    case Module::kFinalNorm:
      return norm(task, v.input, v.norm1, v.rstd1);
    case Module::kQ:
      return begin_linear(v.norm1, v.q, hidden_, q_width_);
    case Module::kK:
      return begin_linear(v.norm1, v.k, hidden_, kv_width_);
    case Module::kV:
      return begin_linear(v.norm1, v.v, hidden_, kv_width_);
    case Module::kQkv: {
      TaskLaunch launch = begin_linear(v.norm1, v.q, hidden_, q_stride_);
      v.k = v.q + context_.bytes(q_width_);
      v.v = v.k + context_.bytes(kv_width_);
      return launch;
    }
    case Module::kRotary:
      return rotary(v.q, v.k, false);
    case Module::kAttention: {
      for (const Ref ref : {v.q, v.k, v.v}) touch(ref);
      v.attention = activation(q_width_);
      v.lse = context_.make(MemoryUse::kActivations, context_.wide_bytes(rows_ * model.heads));
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              batch = context_.training.micro_batch, sequence = context_.training.sequence_length,
              heads = model.heads, kv_heads = model.kv_heads, d = model.head_dim,
              q_stride = q_stride_, kv_stride = kv_stride_, q = v.q, k = v.k, value = v.v,
              out = v.attention, lse = v.lse](Stream& stream, const StepContext&) {
        device.run(stream, Attention{type, batch, sequence, heads, kv_heads, d, (*at)(q), q_stride,
                                     (*at)(k), (*at)(value), kv_stride, (*at)(out), (*at)(lse)});
      };
    }
    case Module::kO:
      return begin_linear(v.attention, v.branch_output, q_width_, hidden_);
    case Module::kAttentionResidual:
      v.middle = v.branch_output;
      return residual(v.input, v.branch_output, v.middle);
    case Module::kFfnNorm:
      return norm(task, v.middle, v.norm2, v.rstd2);
    case Module::kGate:
      return begin_linear(v.norm2, v.gate, hidden_, ffn_);
    case Module::kUp:
      return begin_linear(v.norm2, v.up, hidden_, ffn_);
    case Module::kGateUp: {
      TaskLaunch launch = begin_linear(v.norm2, v.gate, hidden_, 2 * ffn_);
      v.up = v.gate + context_.bytes(ffn_);
      return launch;
    }
    case Module::kSwiglu: {
      touch(v.gate);
      touch(v.up);
      v.product = activation(ffn_);
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              rows = rows_, n = ffn_, stride = gate_stride_, gate = v.gate, up = v.up,
              y = v.product](Stream& stream, const StepContext&) {
        device.run(stream, SwiGlu{type, rows, n, (*at)(gate), (*at)(up), stride, (*at)(y)});
      };
    }
    case Module::kDown:
      return begin_linear(v.product, v.branch_output, ffn_, hidden_);
    case Module::kFfnResidual:
      // Run again for the gradients, its output is there already.
      if (task.key.phase == Phase::kForward) values_[block + 1].input = v.branch_output;
      return residual(v.middle, v.branch_output, v.branch_output);
    case Module::kHead: {
      touch(v.norm1);
      v.logits = context_.make(MemoryUse::kLogits, context_.bytes(rows_ * vocab_));
      return linear(task, v.norm1, v.logits, hidden_, vocab_);
    }
    case Module::kLoss: {
      touch(v.logits);
      v.lse = context_.make(MemoryUse::kLogits, context_.wide_bytes(rows_));
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              rows = rows_, vocab = vocab_, logits = v.logits, lse = v.lse,
              tokens = SlotTokens(context_.training, tokens_, task.key.micro_batch),
              loss = SlotLoss(context_.training, losses_, task.key.micro_batch)](
                 Stream& stream, const StepContext& step) {
        device.run(stream,
                   CrossEntropy{type, rows, vocab, (*at)(logits),
                                static_cast<const std::int32_t*>((*at)(tokens.targets(step))),
                                (*at)(loss.at(step)), (*at)(lse)});
      };
    }
    case Module::kQkNorm:  // not of the LLaMA family: check_executable
    case Module::kGelu:
    case Module::kNone:
      break;
  }
  throw InternalError("no forward of " + context_.graph.key(context_.current));
}

TaskLaunch ComputeLauncher::backward(const Task& task) {
  const auto block = static_cast<std::size_t>(task.key.block);
  Values& v = values_[block];
  Gradients& g = grad_;
  const ModelSpec& model = context_.model;
  const bool dgrad = task.key.op == Op::kDgrad;
  /// The gradient of a linear module's input: made by the first module that adds to it.
  const auto into_norm = [&](bool first) {
    if (dgrad && first) g.norm_output = activation(hidden_);
    return !first;
  };
  switch (task.key.module) {
    case Module::kLoss: {
      touch(v.logits);
      touch(v.lse);
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              rows = rows_, vocab = vocab_, logits = v.logits, lse = v.lse,
              tokens = SlotTokens(context_.training, tokens_, task.key.micro_batch)](
                 Stream& stream, const StepContext& step) {
        device.run(stream,
                   CrossEntropyBackward{
                       type, rows, vocab, (*at)(logits),
                       static_cast<const std::int32_t*>((*at)(tokens.targets(step))), (*at)(lse)});
      };
    }
    case Module::kHead: {
      const bool adds = into_norm(true);
      return linear_backward(task, v.norm1, v.logits, g.norm_output, hidden_, vocab_, adds);
    }
    case Module::kFinalNorm:
    case Module::kAttentionNorm:
      g.branch = activation(hidden_);
      return norm_backward(task, g.norm_output, v.input, v.rstd1, g.branch);
    case Module::kFfnResidual:
      if (task.key.block == model.layers) {  // nothing flows beside the final norm
        touch(g.branch);
        g.stream = activation(hidden_);
        return [&device = context_.device, at = context_.addresses, type = context_.type,
                n = rows_ * hidden_, from = g.branch,
                to = g.stream](Stream& stream, const StepContext&) {
          device.run(stream, Convert{n, type, (*at)(from), type, (*at)(to), false});
        };
      }
      return residual(g.stream, g.branch, g.stream);
    case Module::kDown:
      if (dgrad) g.product = activation(ffn_);
      return linear_backward(task, v.product, g.stream, g.product, ffn_, hidden_, false);
    case Module::kSwiglu: {
      for (const Ref ref : {v.gate, v.up, g.product}) touch(ref);
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              rows = rows_, n = ffn_, stride = gate_stride_, gate = v.gate, up = v.up,
              dy = g.product](Stream& stream, const StepContext&) {
        device.run(stream, SwiGluBackward{type, rows, n, (*at)(gate), (*at)(up), stride, (*at)(dy),
                                          (*at)(gate), (*at)(up)});
      };
    }
    case Module::kUp: {
      const bool adds = into_norm(true);
      return linear_backward(task, v.norm2, v.up, g.norm_output, hidden_, ffn_, adds);
    }
    case Module::kGate: {
      const bool adds = into_norm(false);
      return linear_backward(task, v.norm2, v.gate, g.norm_output, hidden_, ffn_, adds);
    }
    case Module::kGateUp: {
      const bool adds = into_norm(true);
      return linear_backward(task, v.norm2, v.gate, g.norm_output, hidden_, 2 * ffn_, adds);
    }
    case Module::kFfnNorm:
      g.branch = activation(hidden_);
      return norm_backward(task, g.norm_output, v.middle, v.rstd2, g.branch);
    case Module::kAttentionResidual:
      return residual(g.stream, g.branch, g.stream);
    case Module::kO:
      if (dgrad) g.attention = activation(q_width_);
      return linear_backward(task, v.attention, g.stream, g.attention, q_width_, hidden_, false);
    case Module::kAttention: {
      for (const Ref ref : {v.q, v.k, v.v, v.attention, v.lse, g.attention}) touch(ref);
      if (model.fused_qkv) {
        g.q = activation(q_stride_);
        g.k = g.q + context_.bytes(q_width_);
        g.v = g.k + context_.bytes(kv_width_);
      } else {
        g.q = activation(q_width_);
        g.k = activation(kv_width_);
        g.v = activation(kv_width_);
      }
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              batch = context_.training.micro_batch, sequence = context_.training.sequence_length,
              heads = model.heads, kv_heads = model.kv_heads, d = model.head_dim,
              q_stride = q_stride_, kv_stride = kv_stride_, v,
              g](Stream& stream, const StepContext&) {
        device.run(stream, AttentionBackward{type, batch, sequence, heads, kv_heads, d, (*at)(v.q),
                                             q_stride, (*at)(v.k), (*at)(v.v), kv_stride,
                                             (*at)(v.attention), (*at)(v.lse), (*at)(g.attention),
                                             (*at)(g.q), (*at)(g.k), (*at)(g.v)});
      };
    }
    case Module::kRotary:
      return rotary(g.q, g.k, true);
    case Module::kV: {
      const bool adds = into_norm(true);
      return linear_backward(task, v.norm1, g.v, g.norm_output, hidden_, kv_width_, adds);
    }
    case Module::kK: {
      const bool adds = into_norm(false);
      return linear_backward(task, v.norm1, g.k, g.norm_output, hidden_, kv_width_, adds);
    }
    case Module::kQ: {
      const bool adds = into_norm(false);
      return linear_backward(task, v.norm1, g.q, g.norm_output, hidden_, q_width_, adds);
    }
    case Module::kQkv: {
      const bool adds = into_norm(true);
      return linear_backward(task, v.norm1, g.q, g.norm_output, hidden_, q_stride_, adds);
    }
    case Module::kEmbedding: {
      TaskLaunch add = residual(g.stream, g.branch, g.stream);
      TaskLaunch zero;
      const TensorId id = tensors_of(task)[0];
      const GradTarget to = gradients_.target(task, id, zero);
      return [&device = context_.device, at = context_.addresses, type = context_.type,
              grad_type = context_.grad_type, rows = rows_, n = hidden_, vocab = vocab_, add, zero,
              dout = g.stream, to,
              tokens = SlotTokens(context_.training, tokens_, task.key.micro_batch)](
                 Stream& stream, const StepContext& step) {
        add(stream, step);
        if (zero) zero(stream, step);
        device.run(stream,
                   EmbeddingBackward{type, grad_type, rows, n, vocab,
                                     static_cast<const std::int32_t*>((*at)(tokens.inputs(step))),
                                     (*at)(dout), (*at)(to.ref), to.accumulate});
      };
    }
    case Module::kQkNorm:  // not of the LLaMA family: check_executable
    case Module::kGelu:
    case Module::kNone:
      break;
  }
  throw InternalError("no backward of " + context_.graph.key(context_.current));
}

}  // namespace amsp
