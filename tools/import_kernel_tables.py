#!/usr/bin/env python3
"""Converts measured GEMMs and attention kernels into data/kernels/*.json.

    tools/import_kernel_tables.py FOLDER

FOLDER holds gemm.csv.gz and attention_forward.csv.gz: the kernel measurements of the public package
aiconfigurator-core 0.12.0 (NVIDIA, Apache-2.0; systems/data), as columns gpu, framework, version,
kernel_source, shape, latency in ms. Writes data/kernels/GPU.json and tests/kernels/data/*.csv,
prints the tables of docs/kernels.md. Rules:

1. GEMMs are as fast as SGLang's rows: torch.nn.functional.linear on normal data, five or six of
   them to a replay. vLLM's bf16 weights are uninitialised, draw less power and run 5 to 12 % fast.
   TensorRT-LLM's have normal data, but a replay is a single GEMM once its weight exceeds the L2
   (collector/trtllm/collect_gemm.py): shorter bursts, 4 to 7 % fast where power is the limit (A100,
   H100, H200; L40S 10 %), even elsewhere. Moved to SGLang's level by the median ratio of GEMMs of
   the same work within a factor of 4, they halve the noise: the table is the geometric mean.
2. A table is a grid over (m, n, k), rates in steps of 0.1 TFLOP/s. Shapes of the data that aren't on
   the grid are the test set: what interpolation errs by there is stored and printed.
3. `sustained` is the median rate of kernels of 6.4 ms and more with m, n, k >= 2048: such kernels run
   for 0.2 s and more on end, at the power limit. docs/kernels.md shows that it is a ceiling.
4. `fixed_s` is what a kernel takes besides its work: the intercept of time over k, m = 1024, n = 512.
5. Attention: the median rate by (sequence, batch x heads, head size) of rows with four and more heads
   a kv head, or with fewer than four heads. Rows with more kv heads also write a cache of keys and
   values, which training doesn't: their extra time goes with the bytes of K and V, not with the work
   (docs/kernels.md). Other implementations and backward passes are ratios, from the
   figures below.
"""

import collections
import csv
import gzip
import itertools
import json
import math
import os
import random
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = "aiconfigurator-core 0.12.0 (NVIDIA, Apache-2.0), systems/data"
CLOCKS = ("bursts: CUDA graphs of 5 to 6 kernels, 3 warm-ups and 6 replays, at the clocks of the "
          "machine; kernels of a few ms reach the power limit, shorter ones don't")

# file: (name in the data, name for people, gap between queued kernels in s, its source)
HOPPER_GAP = (1.5e-6, "measured: public profiler traces on H100, 1.1 to 1.7 us between queued kernels")
BLACKWELL_GAP = (3e-6, "measured: public profiler traces on B200, median 3 us")
GPUS = {
    "a100": ("a100_sxm", "A100 SXM",
             (2e-6, "measured: public profiler traces on A100, 1.2 to 3 us between queued kernels")),
    "h100": ("h100_sxm", "H100 SXM", HOPPER_GAP),
    "h200": ("h200_sxm", "H200 SXM", (1.5e-6, "assumed: as on H100")),
    "b200": ("b200_sxm", "B200 SXM", BLACKWELL_GAP),
    "b300": ("b300_sxm", "B300 SXM", (3e-6, "assumed: as on B200")),
    "gb200": ("gb200", "GB200", (3e-6, "assumed: as on B200")),
    "gb300": ("gb300", "GB300", (3e-6, "assumed: as on B200")),
    "l40s": ("l40s", "L40S", (1.5e-6, "assumed: as on H100")),
    "rtx-pro-6000": ("rtx_pro_6000_server", "RTX PRO 6000 Server", (1.5e-6, "assumed: as on H100")),
}
TYPES = {"bf16": "bfloat16", "fp8": "fp8"}
GEMM_FRAMEWORKS = ["SGLang", "TRTLLM"]  # the first sets the level
OLD = {("h100_sxm", "SGLang", "0.5.6.post2")}  # superseded by 0.5.14

M = [1024, 1536, 2048, 3072, 4096, 8192, 16384, 32768]
NK = [512, 768, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 12288, 16384, 51200]
RATE_UNIT = 1e11
LEFT_OUT_ROWS = 60  # of each table, for the tests
SUSTAINED_FROM_S, SUSTAINED_FROM_SIZE = 6.4e-3, 2048

SEQ = [1024, 2048, 4096, 8192, 16384]
BATCH_HEADS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
HEAD_DIMS = [64, 128, 256]
BLACKWELL = {"cudnn": [("SGLang", "trtllm_mha"), ("VLLM", "vllm_flashinfer_trtllmprefill")]}
HOPPER = {"flash3": [("SGLang", "fa3"), ("VLLM", "vllm_flash_attn_fa3")]}
FLASH2 = {"flash2": [("VLLM", "vllm_flash_attn_fa2")]}
ATTENTION = {
    "a100": {"flash2": [("SGLang", "flash_attention")]},
    "h100": HOPPER, "h200": HOPPER,
    "b200": BLACKWELL, "b300": BLACKWELL, "gb200": BLACKWELL, "gb300": BLACKWELL,
    "l40s": FLASH2, "rtx-pro-6000": FLASH2,
}
# Remarks on what was measured, for the source of a table.
REMARKS = {
    "a100": "; within 5 % of FlashAttention-2 in training on A800, 1024 to 16384 tokens",
    **dict.fromkeys(["b200", "b300", "gb200", "gb300"],
                    "; NVIDIA's trtllm-gen kernels stand in for cuDNN's"),
}

FA3_PAPER = "arXiv 2407.08608, H100, head size 128, not causal"
# {kernel: (of, {seq: forward rate / forward rate of `of`}, source)}
SCALED_HOPPER = {
    "flash2": ("flash3", {1024: 319 / 531},
               "derived: 319 TFLOP/s of FlashAttention-2 on H100, causal, 4096 tokens, head size 128, "
               "to 531 of the table's FlashAttention-3"),
    "cudnn": ("flash3", {1024: 574 / 565, 2048: 617 / 625, 4096: 609 / 638, 8192: 600 / 646,
                         16384: 595 / 648}, "derived: cuDNN to FlashAttention-3, " + FA3_PAPER),
}
SCALED_BLACKWELL = {
    "flash4": ("cudnn", {4096: 1114 / 1005, 8192: 1418 / 1172},
               "derived: FlashAttention-4 on Blackwell, 1114 TFLOP/s at 4096 and 1418 at 8192 tokens "
               "(Dao-AILab/flash-attention#2605, #2280), to 1005 and 1172 of B200's table"),
    "flash2": ("cudnn", {1024: 0.55},
               "assumed: FlashAttention-2 on B200 reached 309 to 379 TFLOP/s, head size 64 "
               "(Dao-AILab/flash-attention#1589), about 0.55 of the table"),
}
TRITON = {"triton": ("flash2", {1024: 1 / 1.4},
                     "assumed: FlashAttention-2's paper (arXiv 2307.08691) is 1.3 to 1.5 times as fast "
                     "as FlashAttention in Triton on A100, forward")}
SCALED = {"a100": TRITON, "l40s": TRITON, "rtx-pro-6000": TRITON,
          "h100": {**SCALED_HOPPER, **TRITON}, "h200": {**SCALED_HOPPER, **TRITON},
          **dict.fromkeys(["b200", "b300", "gb200", "gb300"], SCALED_BLACKWELL)}
# {kernel: ({seq: backward rate / forward rate}, source)}, a backward pass of 2.5 forward works
A800 = "FlashAttention-2 on A800, causal, head size 128, profile a800-4xhdr"
BACKWARD_ADA = {"flash2": ({1024: 82 / 112, 2048: 121 / 159, 4096: 153 / 188, 8192: 176 / 208,
                            16384: 188 / 216}, "derived: " + A800),
                "triton": ({1024: 0.7 * 82 / 112, 2048: 0.7 * 121 / 159, 4096: 0.7 * 153 / 188,
                            8192: 0.7 * 176 / 208, 16384: 0.7 * 188 / 216},
                           "assumed: FlashAttention-2's paper is about twice as fast as FlashAttention in "
                           "Triton on A100, backward; 1.4 times forward")}
BACKWARD_HOPPER = {
    "flash2": ({1024: 260 / 350, 2048: 291 / 362, 4096: 310 / 368, 8192: 318 / 370, 16384: 322 / 370},
               "derived: " + FA3_PAPER),
    "flash3": ({1024: 424 / 565, 2048: 501 / 625, 4096: 542 / 638, 8192: 559 / 646, 16384: 561 / 648},
               "derived: " + FA3_PAPER),
    "cudnn": ({1024: 408 / 574, 2048: 465 / 617, 4096: 499 / 609, 8192: 518 / 600, 16384: 516 / 595},
              "derived: " + FA3_PAPER),
    "triton": BACKWARD_ADA["triton"],
}
BACKWARD_BLACKWELL = {
    "flash4": ({8192: 1209 / 1418}, "derived: FlashAttention-4 on Blackwell, 8192 tokens "
                                    "(Dao-AILab/flash-attention#2605, #2280)"),
    "cudnn": ({8192: 1209 / 1418}, "assumed: as FlashAttention-4 on Blackwell"),
    "flash2": ({1024: 243 / 309, 16384: 334 / 379},
               "assumed: FlashAttention-2 on B200, head size 64 (Dao-AILab/flash-attention#1589): "
               "243 of 309 to 334 of 379 TFLOP/s, taken for 1024 and 16384 tokens"),
}
BACKWARD = {"a100": BACKWARD_ADA, "l40s": BACKWARD_ADA, "rtx-pro-6000": BACKWARD_ADA,
            "h100": BACKWARD_HOPPER, "h200": BACKWARD_HOPPER,
            **dict.fromkeys(["b200", "b300", "gb200", "gb300"], BACKWARD_BLACKWELL)}


def read_rows(folder, name):
    with gzip.open(os.path.join(folder, name + ".csv.gz"), "rt", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read_gemms(folder):
    """{(gpu, type): {framework: (version, {(m, n, k): seconds})}}"""
    kinds = {text: name for name, text in TYPES.items()}
    tables = collections.defaultdict(dict)
    for row in read_rows(folder, "gemm"):
        series = row["gpu"], row["framework"], row["version"]
        if row["gemm_dtype"] not in kinds or row["framework"] not in GEMM_FRAMEWORKS or series in OLD:
            continue
        version, times = tables[row["gpu"], kinds[row["gemm_dtype"]]].setdefault(
            row["framework"], (row["version"], {}))
        assert version == row["version"], series
        shape = int(row["m"]), int(row["n"]), int(row["k"])
        assert shape not in times, shape
        times[shape] = float(row["latency"]) * 1e-3
    return tables


def read_light_gemms(folder):
    """{gpu: {(m, n, k): seconds}} of vLLM in bf16: the same kernels at less power (rule 1)."""
    times = collections.defaultdict(dict)
    for row in read_rows(folder, "gemm"):
        if row["framework"] == "VLLM" and row["gemm_dtype"] == "bfloat16":
            times[row["gpu"]][int(row["m"]), int(row["n"]), int(row["k"])] = float(row["latency"]) * 1e-3
    return times


def read_attention(folder):
    """{(gpu, framework, kernel): (version, {(batch, seq, heads, kv heads, head size): seconds})}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    columns = "batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim"
    for row in read_rows(folder, "attention_forward"):
        series = row["gpu"], row["framework"], row["kernel_source"], row["version"]
        found[series][tuple(int(row[c]) for c in columns)].append(float(row["latency"]) * 1e-3)
    return {series[:3]: (series[3], {shape: statistics.median(t) for shape, t in times.items()})
            for series, times in sorted(found.items())}


def combine(tables):
    """Geometric mean; a shape that some lack is moved by the median ratios."""
    first = tables[0]
    offsets = [statistics.median(math.log(t[s] / first[s]) for s in t if s in first) for t in tables]
    middle = statistics.fmean(offsets)
    return {shape: math.exp(middle + statistics.fmean(math.log(t[shape]) - o for t, o in
                                                      zip(tables, offsets) if shape in t))
            for shape in sorted(set().union(*tables))}


def at_the_level_of_the_first(first, second=None):
    """Geometric mean with the second, moved by the median ratio at its work (rule 1)."""
    if second is None:
        return first
    size = lambda shape: math.floor(math.log(work(shape), 4))
    ratios = collections.defaultdict(list)
    for shape in first:
        if shape in second:
            ratios[size(shape)].append(first[shape] / second[shape])
    level = {s: statistics.median(r) for s, r in ratios.items()}
    return {shape: math.sqrt(time * second[shape] * level[size(shape)]) if shape in second else time
            for shape, time in first.items()}


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def work(shape):
    return 2 * shape[0] * shape[1] * shape[2]


def place(axis, x):
    """Grid points around x with their weights; the border's outside."""
    x = min(max(x, axis[0]), axis[-1])
    low = max(i for i, a in enumerate(axis) if a <= x)
    if axis[low] == x:
        return [(low, 1.0)]
    weight = math.log(x / axis[low]) / math.log(axis[low + 1] / axis[low])
    return [(low, 1 - weight), (low + 1, weight)]


def interpolate(axes, log_rates, point):
    """Linear in log rate over the logs of the axes; constant outside."""
    total = 0.0
    for corner in itertools.product(*(place(a, x) for a, x in zip(axes, point))):
        total += math.prod(w for _, w in corner) * log_rates[tuple(i for i, _ in corner)]
    return math.exp(total)


def gemm_time(axes, log_rates, floor, may_swap, shape):
    """As KernelTable::gemm, burst: see kernels/kernel_table.h."""
    shape = list(shape)
    if may_swap and shape[0] < axes[0][0] and shape[1] > shape[0]:
        shape[0], shape[1] = shape[1], shape[0]
    inside = [min(max(x, a[0]), a[-1]) for x, a in zip(shape, axes)]
    time_at = lambda s: work(s) / interpolate(axes, log_rates, s)
    base = time_at(inside)
    fixed = min(floor, base / 2)
    scale = 1.0
    for i, (x, axis) in enumerate(zip(shape, axes)):
        if x > axis[-1]:
            scale *= x / axis[-1]
        elif x < axis[0]:
            double = inside[:i] + [2 * axis[0]] + inside[i + 1:]
            slope = math.log2(max(time_at(double) - fixed, base - fixed) / (base - fixed))
            scale *= (x / axis[0]) ** min(1.0, slope)
    if not any(x < a[0] for x, a in zip(shape, axes)):
        return scale * base
    return fixed + scale * (base - fixed)


def grid(axes, times):
    """Log rates by indices, rounded as the file has them."""
    rates = {}
    for index in itertools.product(*(range(len(a)) for a in axes)):
        shape = tuple(a[i] for a, i in zip(axes, index))
        rates[index] = math.log(round(work(shape) / times[shape] / RATE_UNIT) * RATE_UNIT)
    return rates


def errors_of(pairs):
    errors = [abs(predicted / measured - 1) for predicted, measured in pairs]
    return {"rows": len(errors), "median": round(statistics.median(errors), 4),
            "p90": round(quantile(errors, 0.9), 4), "max": round(max(errors), 4)}


def intercept(times):
    points = [(k, times[1024, 512, k]) for k in (512, 768, 1024, 1536, 2048)]
    mean_k = statistics.fmean(k for k, _ in points)
    mean_t = statistics.fmean(t for _, t in points)
    slope = (sum((k - mean_k) * (t - mean_t) for k, t in points) /
             sum((k - mean_k) ** 2 for k, _ in points))
    return mean_t - slope * mean_k


def convert_gemm(kind, frameworks):
    """The table, its left-out rows [(shape, seconds)], the times."""
    tables = [frameworks[name][1] for name in GEMM_FRAMEWORKS if name in frameworks]
    times = at_the_level_of_the_first(*tables)
    axes = [M, NK, NK]
    rates = grid(axes, times)
    floor = intercept(times)
    on_grid = lambda s: s[0] in M and s[1] in NK and s[2] in NK
    predict = lambda s: gemm_time(axes, rates, floor, kind == "bf16", s)
    inside = [s for s in times if not on_grid(s) and max(s[1:]) <= NK[-1]]
    even = [s for s in inside if s[0] % 256 == 0]
    beyond = [s for s in times if max(s[1:]) > NK[-1]]
    # What lies below the grid is judged by grids that end further up.
    upper = [M[2:], NK[2:], NK[2:]]
    upper_rates = grid(upper, times)
    below = [s for s in times if s[0] in M and s[1] in NK and s[2] in NK and
             (s[0] < upper[0][0] or s[1] < upper[1][0] or s[2] < upper[2][0])]
    left_out = {
        "between": errors_of([(predict(s), times[s]) for s in even]),
        "odd_m": errors_of([(predict(s), times[s]) for s in inside if s[0] % 2]),
        "beyond": errors_of([(predict(s), times[s]) for s in beyond]),
        "below": errors_of([(gemm_time(upper, upper_rates, floor, kind == "bf16", s), times[s]) for s in below]),
    }
    common = [s for s in times if len(tables) > 1 and all(s in t for t in tables)]
    apart = [abs(math.log(tables[0][s] / tables[1][s])) for s in common]
    table = {
        "type": kind,
        "source": "measured: " + ", ".join(f"{name} {frameworks[name][0]}" for name in GEMM_FRAMEWORKS
                                           if name in frameworks) +
                  f", geometric mean at the level of {GEMM_FRAMEWORKS[0]}",
        "spread": {"grid": round(quantile(apart, 0.9) / 2, 4), "between": left_out["between"]["p90"],
                   "outside": max(left_out["below"]["p90"], left_out["beyond"]["p90"])},
        "fixed_s": float(f"{floor:.3g}"),
        "left_out": left_out,
    }
    if kind == "bf16":
        long = [work(s) / t for s, t in times.items()
                if t >= SUSTAINED_FROM_S and min(s) >= SUSTAINED_FROM_SIZE and s[0] % 256 == 0]
        table["sustained"] = {
            "flops": round(statistics.median(long) / RATE_UNIT) * RATE_UNIT,
            "source": f"derived: median of {len(long)} kernels of 6.4 ms and more with m, n, k >= 2048; "
                      f"p10 {quantile(long, 0.1) / 1e12:.0f}, p90 {quantile(long, 0.9) / 1e12:.0f} TFLOP/s"}
    table["axes"] = {"m": M, "n": NK, "k": NK}
    table["rates"] = [[round(math.exp(rates[i, j, k]) / RATE_UNIT) for k in range(len(NK))]
                      for i in range(len(M)) for j in range(len(NK))]
    return table, [(s, times[s]) for s in even], times


def report_ceiling(times, light):
    """Rates of long kernels in five groups, ascending by the rate with uninitialised weights."""
    points = sorted((work(s) / light[s], work(s) / t) for s, t in times.items()
                    if s in light and t >= SUSTAINED_FROM_S and s[0] % 256 == 0)
    groups = [points[i * len(points) // 5:(i + 1) * len(points) // 5] for i in range(5)]
    return " | ".join(" / ".join(f"{statistics.median(p[i] for p in group) / 1e12:.0f}" for i in (0, 1))
                      for group in groups)


def report_turned(times):
    """Rate of weight gradients' shapes to that of the forward shapes: k tokens, m and n widths."""
    widths = 4096, 8192, 16384
    ratios = [times[t, a, b] / times[a, b, t] for t in (2048,) + widths for a in widths for b in widths
              if (t, a, b) in times and (a, b, t) in times]
    return f"{quantile(ratios, 0.1):.2f} / {statistics.median(ratios):.2f} / {quantile(ratios, 0.9):.2f}"


def report_cache(times, seq, head_dim=128):
    """What rows with a kv head a head take more than those with an eighth: ns by kv head and token."""
    extra = [1e9 * (t - times[b, s, h, h // 8, d]) / (b * s * (h - h // 8))
             for (b, s, h, kv, d), t in times.items()
             if kv == h and d == head_dim and s == seq and b * h >= 16 and (b, s, h, h // 8, d) in times]
    return f"{statistics.median(extra):.2f}" if extra else "-"


def attention_work(shape):
    batch, seq, heads, _, head_dim = shape
    return 2 * seq ** 2 * batch * heads * head_dim


def convert_attention(kernel, series, remark):
    """The table and its left-out rows."""
    times = {s: t for s, t in combine([table for _, table in series.values()]).items()
             if s[2] // s[3] >= 4 or s[2] < 4}
    dims = [d for d in HEAD_DIMS if any(s[4] == d for s in times)]
    axes = [dims, SEQ, BATCH_HEADS]
    cells = collections.defaultdict(list)
    for s, t in times.items():
        cells[s[4], s[1], s[0] * s[2]].append(attention_work(s) / t)
    rates = {}
    for index in itertools.product(*(range(len(a)) for a in axes)):
        cell = tuple(a[i] for a, i in zip(axes, index))
        rates[index] = math.log(round(statistics.median(cells[cell]) / RATE_UNIT) * RATE_UNIT)
    on_grid = lambda s: s[1] in SEQ and s[0] * s[2] in BATCH_HEADS
    predict = lambda s: attention_work(s) / interpolate(axes, rates, (s[4], s[1], s[0] * s[2]))
    known = [s for s in times if s[4] in dims and s[0] * s[2] <= BATCH_HEADS[-1]]
    left = [s for s in known if not on_grid(s)]
    left_out = {"between": errors_of([(predict(s), times[s]) for s in left]),
                "grid": errors_of([(predict(s), times[s]) for s in known if on_grid(s)])}
    source = "measured: " + ", ".join(f"{framework} {version} {name}" for (framework, name), (version, _)
                                      in series.items())
    if len(series) > 1:
        source += ", geometric mean"
    table = {"kernel": kernel, "source": source + remark,
             "spread": {"grid": left_out["grid"]["p90"], "between": left_out["between"]["p90"]},
             "left_out": left_out,
             "axes": {"head_dim": dims, "seq": SEQ, "batch_heads": BATCH_HEADS},
             "rates": [[round(math.exp(rates[i, j, k]) / RATE_UNIT) for k in range(len(BATCH_HEADS))]
                       for i in range(len(dims)) for j in range(len(SEQ))]}
    return table, [(s, times[s]) for s in left]


def ratio_rows(by_seq):
    return [[seq, round(ratio, 4)] for seq, ratio in sorted(by_seq.items())]


def lines(rows, indent):
    pad = " " * indent
    return "[\n" + ",\n".join(pad + "  " + json.dumps(r, separators=(",", ":")) for r in rows) + \
        "\n" + pad + "]"


def print_object(table, tables):
    head = {key: value for key, value in table.items() if key not in tables}
    text = "    " + json.dumps(head)[:-1]
    for key in tables:
        text += f',\n      "{key}": ' + lines(table[key], 6)
    return text + "}"


def print_file(name, title, gap, fixed, gemms, attention, scaled, backward):
    out = ["{", '  "schema": "amsp.kernels/1",', f'  "name": "{name}",',
           f'  "provenance": {json.dumps(f"{PACKAGE}: {title}. Converted by tools/import_kernel_tables.py, whose head has the rules.")},',
           f'  "clocks": {json.dumps(CLOCKS)},', f'  "rate_unit": {RATE_UNIT:.0f},',
           '  "launch": ' + json.dumps({
               "fixed_s": float(f"{fixed:.3g}"), "gap_s": gap[0],
               "sources": {"fixed_s": "derived: intercept of time over k of bf16 GEMMs, m 1024, n 512, "
                                      "k 512 to 2048; holds the gap inside a CUDA graph",
                           "gap_s": gap[1]}}) + ",",
           '  "gemm": [\n' + ",\n".join(print_object(g, ["rates"]) for g in gemms) + "\n  ],",
           '  "attention": [\n' + ",\n".join(print_object(a, ["rates"]) for a in attention) +
           "\n  ],"]
    ratios = lambda items: "[\n" + ",\n".join("    " + json.dumps(i) for i in items) + "\n  ]"
    out.append('  "attention_scaled": ' + ratios(
        [{"kernel": kernel, "of": of, "source": source, "rows": ratio_rows(by_seq)}
         for kernel, (of, by_seq, source) in scaled.items()]) + ",")
    out.append('  "attention_backward": ' + ratios(
        [{"kernel": kernel, "source": source, "rows": ratio_rows(by_seq)}
         for kernel, (by_seq, source) in backward.items()]))
    out.append("}")
    return "\n".join(out) + "\n"


def write(path, text):
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
        file.write(text)


def percent(errors, keys=("median", "p90", "max")):
    return " / ".join(f"{100 * errors[key]:.1f}" for key in keys)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    gemms, attention = read_gemms(sys.argv[1]), read_attention(sys.argv[1])
    light = read_light_gemms(sys.argv[1])
    pick = random.Random(1)
    gemm_csv = ["gpu,type,m,n,k,seconds"]
    attention_csv = ["gpu,kernel,batch,seq,heads,kv_heads,head_dim,seconds"]
    gemm_report, attention_report, ceiling_report, turned_report, cache_report = [], [], [], [], []
    for name, (data_name, title, gap) in GPUS.items():
        tables = []
        for kind in TYPES:
            if (data_name, kind) not in gemms:
                continue
            table, left, times = convert_gemm(kind, gemms[data_name, kind])
            if kind == "bf16":
                fixed = intercept(times)
                ceiling_report.append(f"| {title} | {table['sustained']['flops'] / 1e12:.0f} | "
                                      f"{report_ceiling(times, light[data_name])} |")
                turned_report.append(f"| {title} | {report_turned(times)} |")
            tables.append(table)
            for s, t in sorted(pick.sample(left, LEFT_OUT_ROWS)):
                gemm_csv.append(f"{name},{kind},{s[0]},{s[1]},{s[2]},{t:.6g}")
            errors = table["left_out"]
            gemm_report.append(
                f"| {title} | {kind} | {100 * table['spread']['grid']:.1f} | {errors['between']['rows']} | "
                f"{percent(errors['between'])} | {percent(errors['odd_m'])} | {percent(errors['below'])} | "
                f"{percent(errors['beyond'])} |")
        fused = []
        for kernel, names in ATTENTION[name].items():
            series = {n: attention[data_name, *n] for n in names}
            table, left = convert_attention(kernel, series, REMARKS.get(name, ""))
            times = combine([t for _, t in series.values()])
            cache_report.append(f"| {title} | " + " | ".join(report_cache(times, seq)
                                                          for seq in SEQ[1:]) + " |")
            fused.append(table)
            for s, t in sorted(pick.sample(left, LEFT_OUT_ROWS)):
                attention_csv.append(f"{name},{kernel},{','.join(map(str, s))},{t:.6g}")
            errors = table["left_out"]
            attention_report.append(f"| {title} | {kernel} | {errors['between']['rows']} | "
                                    f"{percent(errors['between'])} | {percent(errors['grid'])} |")
        write(f"data/kernels/{name}.json",
              print_file(name, title, gap, fixed, tables, fused, SCALED[name], BACKWARD[name]))
    write("tests/kernels/data/left_out_gemm.csv", "\n".join(gemm_csv) + "\n")
    write("tests/kernels/data/left_out_attention.csv", "\n".join(attention_csv) + "\n")
    for title, report in [("GEMM errors in %: half the distance of frameworks (p90), rows left out, median / "
                           "p90 / max between, odd m, below, beyond", gemm_report),
                          ("attention errors in %: rows left out, median / p90 / max between, on the grid",
                           attention_report),
                          ("ceiling; TFLOP/s of long kernels, uninitialised / normal weights", ceiling_report),
                          ("weight gradients' shapes to forward shapes, p10 / median / p90", turned_report),
                          ("extra ns by kv head and token at 2048, 4096, 8192, 16384 tokens", cache_report)]:
        print(title, *report, "", sep="\n")


if __name__ == "__main__":
    main()
