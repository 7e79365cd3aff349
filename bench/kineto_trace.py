#!/usr/bin/env python3
"""Writes a synthetic trace as PyTorch's profiler does: bench/kineto_trace.py MEGABYTES > FILE

The mixture of events follows real ones: of ten events five are cpu_op, two python_function, one a
launch, one a kernel, one an ac2g flow; one kernel in twenty is a collective.
"""
import sys

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85029158912,
      "computeMajor": 9, "computeMinor": 0, "numSms": 132
    }
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8, "pg_count": 1},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1727000000000000000,
  "trace_id": "5C3D2F7E1B8A4C6F9E0D1A2B3C4D5E6F",
  "traceEvents": ["""

STEP = """
  {{
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{n}", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": {dur:.3f},
    "args": {{
      "External id": {id},"Record function id": 0, "Ev Idx": {id}
    }}
  }},"""

EVENTS = """
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 38.125,
    "args": {{
      "External id": {id},"Record function id": 0, "Concrete Inputs": ["", "", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", ""], "Input Strides": [[16777216, 4096, 1], [4096, 1], []], "Input Dims": [[1, 4096, 4096], [11008, 4096], []], "Ev Idx": {id}
    }}
  }},
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::matmul", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 30.250,
    "args": {{
      "External id": {id1},"Record function id": 0, "Sequence number": {id}, "Fwd thread id": 0, "Input Dims": [[1, 4096, 4096], [4096, 11008]], "Ev Idx": {id1}
    }}
  }},
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 22.500,
    "args": {{
      "External id": {id2},"Record function id": 0, "Input Dims": [[4096, 4096], [4096, 11008]], "Ev Idx": {id2}
    }}
  }},
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 2.125,
    "args": {{
      "External id": {id3},"Record function id": 0, "Ev Idx": {id3}
    }}
  }},
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::view", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 1.125,
    "args": {{
      "External id": {id4},"Record function id": 0, "Ev Idx": {id4}
    }}
  }},
  {{
    "ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(1553): _wrapped_call_impl", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 80.000,
    "args": {{
      "Python parent id": {id}, "Python id": {id1}, "Ev Idx": {id1}
    }}
  }},
  {{
    "ph": "X", "cat": "python_function", "name": "transformers/models/llama/modeling_llama.py(240): forward", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 70.000,
    "args": {{
      "Python parent id": {id}, "Python id": {id2}, "Ev Idx": {id2}
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, "tid": 4711,
    "ts": {ts:.3f}, "dur": 5.125,
    "args": {{
      "External id": {id2}, "cbid": 211, "correlation": {id}
    }}
  }},
  {{
    "ph": "s", "id": {id}, "pid": 4711, "tid": 4711, "ts": {ts:.3f},
    "cat": "ac2g", "name": "ac2g"
  }},"""

KERNEL = """
  {{
    "ph": "X", "cat": "kernel", "name": "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "pid": 0, "tid": 7,
    "ts": {gpu:.3f}, "dur": 90.125,
    "args": {{
      "External id": {id2}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {id}, "registers per thread": 168, "shared memory": 214016, "blocks per SM": 0.969697, "warps per SM": 11.636364, "grid": [1, 128, 1], "block": [384, 1, 1], "est. achieved occupancy %": 18
    }}
  }},"""

COLLECTIVE = """
  {{
    "ph": "X", "cat": "kernel", "name": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "pid": 0, "tid": 20,
    "ts": {gpu:.3f}, "dur": 400.500,
    "args": {{
      "External id": {id2}, "device": 0, "context": 1, "stream": 20, "correlation": {id}, "grid": [24, 1, 1], "block": [544, 1, 1], "Collective name": "_reduce_scatter_base", "In msg nelems": 45088768, "Out msg nelems": 5636096, "Group size": 8, "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"
    }}
  }},"""

TAIL = """
  {
    "name": "process_name", "ph": "M", "ts": 0.000, "pid": 4711, "tid": 0, "args": {"name": "python3"}
  }
  ],
  "traceName": "trace.json"
}
"""


def main() -> None:
    size = int(sys.argv[1]) * 1_000_000
    out = sys.stdout
    written = out.write(HEAD)
    launches_per_step = 5000
    n = 0
    while written < size:
        ts = 1000.0 + 100 * n
        id = 5 * n + 1
        if n % launches_per_step == 0:
            written += out.write(STEP.format(n=n // launches_per_step, ts=ts - 1,
                                             dur=100.0 * launches_per_step, id=id))
        values = dict(ts=ts, gpu=ts + 6, id=id, id1=id + 1, id2=id + 2, id3=id + 3, id4=id + 4)
        written += out.write(EVENTS.format(**values))
        written += out.write((COLLECTIVE if n % 20 == 19 else KERNEL).format(**values))
        n += 1
    out.write(TAIL)


if __name__ == "__main__":
    main()
