#!/usr/bin/env python3
"""Converts the public A800 component measurements into data/profiles/a800-4xhdr.json.

    tools/import_a800_profile.py FOLDER > data/profiles/a800-4xhdr.json

FOLDER holds four CSV files:
    collectives_2to128gpu.csv           time by operation, group size, bytes (4 NICs per node)
    collectives_64to512gpu_by_nics.csv  bus bandwidth, with 1, 2 and 4 NICs per node
    gemm_bf16.csv                       linear layers, forward
    flash_attention2_bf16_causal.csv    forward and backward

All-to-all and reduce are left out: no task of ours uses them. Rules for the rest:
1. time = factor * bytes / bus bandwidth; factor 2(n-1)/n for all_reduce, (n-1)/n for all_gather
   and reduce_scatter, 1 for broadcast.
2. In each table a row is dropped if its time exceeds that of the next larger size, or, from
   64 MiB on, if its bus bandwidth is below 80 % of the smaller of its two neighbours. Smaller
   messages dip where the library changes its protocol (all_gather at 32 KiB per rank, whatever
   the group): those rows are real and stay.
3. Where both tables have a group (64 and 128 GPUs, 4 NICs), the time from 64 MiB on is their mean
   where both have the size. Below, the first table has only three sizes and is slower by up to 2x;
   mixing would put steps into the curve that neither table has, so the second stands alone.
4. reduce_scatter was not measured above 128 GPUs: the all_gather rows stand in, marked.
"""

import collections
import csv
import json
import math
import os
import statistics
import sys

GPUS_PER_NODE = 8
NICS_PER_NODE = 4
OPS = ["all_gather", "reduce_scatter", "all_reduce", "broadcast"]
OPS_BY_NICS = {"Allgather": "all_gather", "Allreduce": "all_reduce", "Broadcast": "broadcast"}
SMALLEST_JUDGED_BY_BANDWIDTH = 64 << 20
SMALLEST_AVERAGED = 64 << 20
BY_TIME, BY_NICS = "collectives_2to128gpu", "collectives_64to512gpu_by_nics"

PROVENANCE = (
    "Component measurements published by the first author of AMSP (arXiv 2311.00257): "
    "collectives on 2 to 512 GPUs, PyTorch eager bf16 linear layers, FlashAttention-2. "
    "The bandwidths fit A800-SXM4-80GB nodes with 4 HDR InfiniBand NICs each; the hardware "
    "block states that reading. Converted by tools/import_a800_profile.py, whose head has the rules."
)


def bus_factor(op, gpus):
    return {"all_gather": (gpus - 1) / gpus, "reduce_scatter": (gpus - 1) / gpus,
            "all_reduce": 2 * (gpus - 1) / gpus, "broadcast": 1.0}[op]


def mesh_of(gpus):
    return f"{min(gpus, GPUS_PER_NODE)}x{max(1, gpus // GPUS_PER_NODE)}"


def table_order(key):
    """By operation; inside a node, then all NICs, then fewer; by group size."""
    op, gpus, nics = key
    return OPS.index(op), 0 if nics == 0 else 1 + NICS_PER_NODE - nics, gpus


def read_csv(folder, name):
    with open(os.path.join(folder, name + ".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_collectives(folder):
    """{(op, gpus, nics): {file: {bytes: seconds}}}; nics is 0 inside a node."""
    tables = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in read_csv(folder, BY_TIME):
        if row["op"] in OPS:
            gpus = int(row["gpus"])
            nics = NICS_PER_NODE if gpus > GPUS_PER_NODE else 0
            seconds = float(row["time_us"]) * 1e-6
            tables[row["op"], gpus, nics][BY_TIME][int(row["bytes_total"])] = seconds
    for row in read_csv(folder, BY_NICS):
        if row["op"] in OPS_BY_NICS:
            op, gpus, size = OPS_BY_NICS[row["op"]], int(row["gpus"]), int(row["bytes"])
            seconds = bus_factor(op, gpus) * size / (float(row["busbw_Gbps"]) * 1e9 / 8)
            tables[op, gpus, int(row["nics_per_node"])][BY_NICS][size] = seconds
    return tables


def drop_decreasing(rows, drop):
    """Drops rows slower than the next larger size, until none is left."""
    again = True
    while again:
        again = False
        sizes = sorted(rows)
        for small, large in zip(sizes, sizes[1:]):
            if rows[small] > rows[large]:
                drop(small, f"slower than {large} bytes ({rows[large]:.6g} s)")
                del rows[small]
                again = True
                break


def drop_slow(rows, factor, drop):
    sizes = sorted(rows)
    rate = {size: factor * size / rows[size] for size in sizes}
    for before, size, after in zip(sizes, sizes[1:], sizes[2:]):
        limit = 0.8 * min(rate[before], rate[after])
        if size >= SMALLEST_JUDGED_BY_BANDWIDTH and rate[size] < limit:
            drop(size, f"bus bandwidth {rate[size] / 1e9:.1f} GB/s between "
                       f"{rate[before] / 1e9:.1f} and {rate[after] / 1e9:.1f} GB/s")
            del rows[size]


def convert_collectives(folder):
    """Tables, dropped rows and best bus bandwidths {"nic" | "port": (bytes/s, text)}."""
    tables, dropped = [], []
    best = {"nic": (0.0, ""), "port": (0.0, "")}
    measured = read_collectives(folder)
    for op, gpus, nics in sorted(measured, key=table_order):
        factor, mesh = bus_factor(op, gpus), mesh_of(gpus)
        parts = measured[op, gpus, nics]
        for name, rows in parts.items():
            def drop(size, reason, rows=rows):
                dropped.append({"op": op, "mesh": mesh, "nics": nics, "bytes": size,
                                "seconds": digits(rows[size]), "reason": reason})

            drop_slow(rows, factor, drop)
            drop_decreasing(rows, drop)
            for size, seconds in rows.items():
                kind = "nic" if nics else "port"
                rate = factor * size / digits(seconds) / max(1, nics)
                if rate > best[kind][0]:
                    share = f", divided by {nics} NICs" if nics else ""
                    best[kind] = (rate, f"bus bandwidth of {op} on {mesh}, {size} bytes{share}")
        if len(parts) > 1:
            parts[BY_TIME] = {size: seconds for size, seconds in parts[BY_TIME].items()
                              if size >= SMALLEST_AVERAGED}
        sizes = sorted(set().union(*parts.values()))
        table = {"op": op, "mesh": mesh, "nics": nics, "source": " and ".join(sorted(parts))}
        if len(parts) > 1:
            table["averaged"] = [size for size in sizes
                                 if all(size in rows for rows in parts.values())]
        table["rows"] = [[size, digits(statistics.fmean(
            rows[size] for rows in parts.values() if size in rows))] for size in sizes]
        tables.append(table)
    for gather in [t for t in tables if t["op"] == "all_gather" and t["nics"] == NICS_PER_NODE]:
        if not any(t["op"] == "reduce_scatter" and t["mesh"] == gather["mesh"] for t in tables):
            last = max(i for i, t in enumerate(tables) if t["op"] == "reduce_scatter")
            tables.insert(last + 1, {**gather, "op": "reduce_scatter", "substituted": "all_gather"})
    return tables, dropped, best


def convert_gemm(folder):
    times = collections.defaultdict(list)
    for row in read_csv(folder, "gemm_bf16"):
        shape = int(row["m_seq"]), int(row["k_hidden"]), int(row["n_hidden"])
        times[shape].append(float(row["time_us"]) * 1e-6)
    return [[*shape, digits(statistics.fmean(times[shape]))] for shape in sorted(times)]


def convert_attention(folder):
    times = collections.defaultdict(list)
    for row in read_csv(folder, "flash_attention2_bf16_causal"):
        shape = tuple(int(row[key]) for key in ("seq_len", "micro_bsz", "heads", "head_dim"))
        times[shape, row["is_fwd"]].append(float(row["time_us"]) * 1e-6)
    mean = {key: digits(statistics.fmean(values)) for key, values in times.items()}
    shapes = sorted({shape for shape, _ in times})
    return [[*shape, mean.get((shape, "1")), mean.get((shape, "0"))] for shape in shapes]


def digits(seconds):
    return float(f"{seconds:.6g}")


def lines(values, indent):
    """A JSON list with one element a line."""
    pad = " " * indent
    return "[\n" + ",\n".join(pad + "  " + json.dumps(v) for v in values) + "\n" + pad + "]"


def print_table(table):
    head = {key: value for key, value in table.items() if key != "rows"}
    return "    " + json.dumps(head)[:-1] + ', "rows": ' + lines(table["rows"], 4) + "}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    tables, dropped, best = convert_collectives(folder)
    capacities = {kind: {"bytes_per_s": math.ceil(rate), "source": text}
                  for kind, (rate, text) in best.items()}
    hardware = {"gpu": "A800-SXM4-80GB", "gpus_per_node": GPUS_PER_NODE, "nvlink": "switch",
                "nvlink_bandwidth": "200GBps", "nics_per_node": NICS_PER_NODE,
                "nic_bandwidth": "200Gbps"}
    print("{")
    print('  "schema": "amsp.profile/1",')
    print('  "name": "a800-4xhdr",')
    print(f'  "provenance": {json.dumps(PROVENANCE)},')
    print(f'  "hardware": {json.dumps(hardware)},')
    print(f'  "capacities": {json.dumps(capacities)},')
    print('  "collectives": [')
    print(",\n".join(print_table(table) for table in tables))
    print("  ],")
    print(f'  "dropped": {lines(dropped, 2)},')
    gemm = '{"columns": ["m", "k", "n", "forward_s"], "rows": '
    print(f'  "gemm": {gemm}{lines(convert_gemm(folder), 2)}}},')
    attention = ('{"columns": ["seq", "batch", "heads", "head_dim", "forward_s", "backward_s"], '
                 '"rows": ')
    print(f'  "attention": {attention}{lines(convert_attention(folder), 2)}}}')
    print("}")


if __name__ == "__main__":
    main()
