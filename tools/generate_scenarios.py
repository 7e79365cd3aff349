#!/usr/bin/env python3
"""Writes the scenarios that come with amsp: the paper's testbed, its Table V, and the teaching ones.

    tools/generate_scenarios.py [FOLDER]        # default: scenarios/ of this repository

Same program, same bytes; a test compares the result with the committed files. To change a scenario,
change it here and run this. Facts of the paper: AMSP, arXiv 2311.00257v2, sections III and VI.
"""

import json
import sys
from pathlib import Path

GPUS_PER_NODE = 8
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
MODELS = ("7b", "13b", "30b")
SYSTEMS = ("amsp", "zero1", "zero3", "mics", "zeropp")
QUICKSTART = "llama-7b-amsp-1024gpu"

# MFU in percent as the paper's text gives it. Its baselines ran on DeepSpeed's engine.
MEASURED = {
    ("7b", "amsp", 8): "64 %", ("7b", "amsp", 1024): "51 %",
    ("7b", "zero1", 8): "63 %", ("7b", "zero1", 1024): "36 %",
    ("7b", "mics", 8): "50 %", ("7b", "mics", 1024): "35 %",
    ("7b", "zero3", 1024): "about 4 %", ("7b", "zeropp", 1024): "4 %",
    ("13b", "amsp", 1024): "52 %", ("13b", "mics", 1024): "33 %",
    ("13b", "zero3", 8): "47 %", ("13b", "zero3", 1024): "4 %", ("13b", "zeropp", 1024): "6 %",
    ("30b", "amsp", 32): "about 40 %", ("30b", "amsp", 1024): "42 %",
    ("30b", "zero3", 32): "about 40 %", ("30b", "mics", 32): "about 40 %",
    ("30b", "mics", 1024): "29 %", ("30b", "zeropp", 1024): "5 %",
}


def scenario(name, description, model, cluster, training, plan, engine=None, report=None,
             conditions=None):
    """One scenario; `plan` and `engine` as the format writes them."""
    content = {"schema": "amsp.scenario/1", "name": name, "description": description,
               "model": model, "cluster": cluster, "training": training, "plan": plan}
    if engine:
        content["engine"] = engine if isinstance(engine, str) else {"preset": "amsp", **engine}
    if conditions:
        content["conditions"] = conditions
    if report:
        content["report"] = report
    return content


def testbed(gpus):
    return {"preset": "a800-amsp-testbed", "nodes": gpus // GPUS_PER_NODE}


def training(recompute="none", **batch):
    base = {"sequence_length": 4096, "micro_batch": 1, **batch}
    return {**base, "recompute": recompute} if recompute != "none" else base


def recompute_of(model):
    return "full" if model == "30b" else "none"


def plan_of(model, system):
    """Table IV by name: MiCS shards over a node, 30B's over two."""
    if system == "mics":
        return "mics-8x2" if model == "30b" else "mics-8x1"
    return system


def exists(model, system, gpus):
    """Whether the cluster is large enough for the plan's meshes."""
    nodes = gpus // GPUS_PER_NODE
    least = {("30b", "amsp"): 4, ("30b", "mics"): 2}.get((model, system), 1)
    if system == "zeropp":  # the secondary copy lies inside a node, the first over all of them
        least = 2
    return nodes >= least


def paper_scenario(model, system, gpus):
    name = f"llama-{model}-{system}-{gpus}gpu"
    text = (f"LLaMA-{model.upper()} with the plan of {system} on {gpus} GPUs of the paper's testbed, "
            "global batch 1024, as its end-to-end runs: the broadcast of updated parameters does not "
            "overlap.")
    measured = MEASURED.get((model, system, gpus))
    if measured:
        whose = "" if system == "amsp" else " with DeepSpeed's engine"
        text += f" The paper measured an MFU of {measured}{whose}."
    report = {"token_budget": 10**12} if name == QUICKSTART else None
    return name, scenario(name, text, {"preset": f"llama-{model}"}, testbed(gpus),
                          training(recompute_of(model), global_batch=1024),
                          plan_of(model, system), {"overlap": {"broadcast": False}}, report)


def paper():
    for model in MODELS:
        for system in SYSTEMS:
            for gpus in SIZES:
                if exists(model, system, gpus):
                    name, content = paper_scenario(model, system, gpus)
                    yield (f"{name}.json" if name == QUICKSTART else f"paper/{name}.json"), content


def table5():
    """Table V: 64 GPUs; M = 2, 4, 8 by --set training.micro_batches=M."""
    modes = {"full": ("everything overlaps", True, True, True),
             "nobc": ("without overlap of the broadcast", True, True, False),
             "nobc-noar": ("without overlap of broadcast and all-reduce", True, False, False),
             "none": ("without any overlap", False, False, False)}
    for model in MODELS:
        for mode, (text, gather, all_reduce, broadcast) in modes.items():
            name = f"table5-{model}-{mode}"
            overlap = {"gather": gather, "all_reduce": all_reduce, "broadcast": broadcast}
            yield f"table5/{name}.json", scenario(
                name, f"Table V of the paper: LLaMA-{model.upper()} on 64 GPUs, M = 1, {text}.",
                {"preset": f"llama-{model}"}, testbed(64),
                training(recompute_of(model), micro_batches=1), "amsp", {"overlap": overlap})


def tiny():
    """A model small enough to follow every task in the trace."""
    small = {"sequence_length": 512, "micro_batch": 4, "micro_batches": 2}
    cluster = testbed(8)
    yield "tiny-zero1.json", scenario(
        "tiny-zero1",
        "A toy model on one node, optimizer states sharded. Look at the trace: two micro-batches, one "
        "all-reduce of the gradients at the end, a broadcast of each layer's new parameters. Compare "
        "with tiny-zero3.", {"preset": "llama-tiny"}, cluster, small, "zero1")
    yield "tiny-zero3.json", scenario(
        "tiny-zero3",
        "The toy model with everything sharded. Look at the trace: an all-gather for every module and a "
        "reduce-scatter for every gradient, in both micro-batches. The messages are so small that latency "
        "decides: the step is slower than tiny-zero1, though no all-reduce of the gradients is left.",
        {"preset": "llama-tiny"}, cluster, small, "zero3")


def where_to_shard():
    model, cluster = {"preset": "llama-13b"}, testbed(64)
    short = {**training(micro_batches=2), "sequence_length": 1024}  # less compute to hide behind
    yield "zero3-over-nodes.json", scenario(
        "zero3-over-nodes",
        "LLaMA-13B on 8 nodes, everything sharded over all 64 GPUs. Look at exposed communication and "
        "at the busiest links: parameters and gradients of every module cross the network three times in "
        "each micro-batch. Compare with hsdp-in-node.", model, cluster, short, "zero3")
    yield "hsdp-in-node.json", scenario(
        "hsdp-in-node",
        "The same, sharded inside each node and replicated over nodes (hybrid sharding). Look at the "
        "same figures: gathers stay on NVLink, the network carries one all-reduce a step. The price is "
        "memory: each GPU keeps 1/8 of the states, in zero3-over-nodes 1/64.",
        model, cluster, short, "hsdp-8")
    for name, text in (
            ("shared", "All-gather and reduce-scatter take turns on one communicator, as in one process "
             "group of PyTorch. Look at exposed all-gathers: in the backward each waits for the "
             "reduce-scatters before it. Compare with communicators-separate."),
            ("separate", "All-gather and reduce-scatter have a communicator each and run at once. Each "
             "takes longer, for they share links, but neither waits in the other's queue. Compare with "
             "communicators-shared.")):
        yield f"communicators-{name}.json", scenario(
            f"communicators-{name}", text, model, cluster, short, "zero3", {"communicators": name})


def engines():
    """docs/teaching/engines.md"""
    for engine, plan, text in (
            ("amsp", "mics-8", "AMSP's engine: look at the trace of the backward; compute has no gaps while "
             "reduce-scatters run."),
            ("deepspeed", "mics-8", "the same plan under DeepSpeed's schedule: look at the gaps of the "
             "compute stream in the backward, each as long as a reduce-scatter, and at the all-reduce "
             "after it."),
            ("fsdp2", "hsdp-8", "the same sharding under FSDP2's schedule: a gather and a reduce-scatter a "
             "layer, taking turns, and an all-reduce of every layer in every micro-batch."),
            ("ddp", "zero1", "replicated parameters with ZeroRedundancyOptimizer: all-reduces of 25 MiB in "
             "every micro-batch, a broadcast after the step.")):
        yield f"engines/{engine}.json", scenario(
            engine, f"LLaMA-7B on 64 GPUs, {text}", {"preset": "llama-7b"}, testbed(64),
            training(micro_batches=2), plan, engine)


def sharp():
    """docs/teaching/sharp.md"""
    for state, sharp in (("off", False), ("on", True)):
        yield f"sharp-{state}.json", scenario(
            f"sharp-{state}",
            "LLaMA-7B on 64 A100, optimizer states sharded, one micro-batch: the network carries one "
            f"all-reduce of the gradients. In-network reduction is {state}. Look at the time of the "
            "reduction in all, and at what is exposed. Compare with sharp-"
            f"{'on' if state == 'off' else 'off'}.", {"preset": "llama-7b"},
            {"preset": "dgx-a100", "nodes": 8, "collectives": {"sharp": sharp}},
            training(micro_batches=1), "zero1", {"overlap": {"all_reduce": False}})


def buckets():
    for name, size, text in (
            ("small", "25MiB", "Small buckets start early, so that all but the last all-reduce hides "
             "behind the backward, but small messages use the network badly. Look at hidden and exposed "
             "all-reduce. Compare with bucket-large."),
            ("large", "4GiB", "Large buckets fill the network, but the last one starts when the backward "
             "has ended, and nothing is left to hide it. Look at exposed all-reduce. Compare with "
             "bucket-small; engine.bucket=512MiB is in between.")):
        yield f"bucket-{name}.json", scenario(
            f"bucket-{name}", text, {"preset": "llama-7b"}, testbed(64), training(micro_batches=1),
            "amsp", {"bucket": size})


def other_clusters():
    yield "dgx-a100-7b.json", scenario(
        "dgx-a100-7b",
        "The first row of Table V on DGX A100 nodes: NVLink half as fast again, twice the network cards. "
        "No measured profile belongs to this cluster, so collectives are modelled. Compare with "
        "table5/table5-7b-full.", {"preset": "llama-7b"}, {"preset": "dgx-a100", "nodes": 8},
        training(micro_batches=1), "amsp")
    yield "dgx-a100-thin-spine.json", scenario(
        "dgx-a100-thin-spine",
        "LLaMA-13B sharded over 64 GPUs with a quarter of the spine switches. Look at the busiest links: "
        "they are leaf to spine now. --set cluster.fabric.spines=16 gives the full fabric.",
        {"preset": "llama-13b"},
        {"preset": "dgx-a100", "nodes": 8, "fabric": {"spines": 4}}, training(micro_batches=4), "zero3")
    yield "dgx-a100-40gb-13b.json", scenario(
        "dgx-a100-40gb-13b",
        "LLaMA-13B on GPUs of 40 GB. Look at memory by part and at the verdict: what has to change until "
        "it fits? Try training.recompute=full and plan=zero3.", {"preset": "llama-13b"},
        {"preset": "dgx-a100-40gb", "nodes": 4}, training(micro_batches=4), "amsp")
    yield "qwen2-7b-hsdp.json", scenario(
        "qwen2-7b-hsdp",
        "Grouped-query attention, biases and a vocabulary of 152064. Look at memory by part: the logits "
        "weigh more than a layer's activations; and at the time of the head in the trace.",
        {"preset": "qwen2-7b"}, {"preset": "dgx-a100", "nodes": 2},
        training(global_batch=64), "hsdp-8")
    yield "hf-config.json", scenario(
        "hf-config", "A model from its Hugging Face config.json, read as it is published.",
        {"hf_config": "models/tinyllama-1.1b/config.json"}, {"preset": "dgx-a100", "nodes": 1},
        {"sequence_length": 2048, "micro_batch": 4, "global_batch": 256}, "zero2")


def planning():
    """Questions for amsp-plan --compare; the clusters to compare are in clusters()."""
    yield "plan-13b-64gpu.json", scenario(
        "plan-13b-64gpu",
        "LLaMA-13B on 64 GPUs, for amsp-plan: which plan is best, and what do 40 GB a GPU, half the "
        "network cards, or SHARP change? See clusters/.", {"preset": "llama-13b"},
        {"preset": "dgx-a100", "nodes": 8}, training(global_batch=256), "zero3")
    yield "plan-30b-72gpu.json", scenario(
        "plan-30b-72gpu",
        "LLaMA-30B on 72 GPUs, for amsp-plan: one NVLink rack of 72, or nine nodes of 8? See clusters/.",
        {"preset": "llama-30b"}, {"preset": "gb200-nvl72", "nodes": 1}, training(global_batch=288),
        "zero3")


def clusters():
    """What a scenario has under "cluster", in files of its own."""
    yield "a100-80gb", {"preset": "dgx-a100", "name": "a100-80gb", "nodes": 8}
    yield "a100-40gb", {"preset": "dgx-a100-40gb", "name": "a100-40gb", "nodes": 8}
    yield "a100-4nics", {"preset": "dgx-a100", "name": "a100-4nics", "nodes": 8,
                         "node": {"nics": {"count": 4}}}
    yield "h100", {"preset": "dgx-h100", "name": "h100", "nodes": 8}
    yield "h100-sharp", {"preset": "dgx-h100", "name": "h100-sharp", "nodes": 8,
                         "collectives": {"sharp": True}}
    yield "rack-72", {"preset": "gb200-nvl72", "name": "rack-72", "nodes": 1}
    yield "nodes-9x8", {"preset": "dgx-b200", "name": "nodes-9x8", "nodes": 9, "gpu": "GB200-186GB"}


def networks():
    """Each with a page in docs/teaching."""
    model, short = {"preset": "llama-13b"}, {**training(micro_batches=2), "sequence_length": 2048}
    yield "networks/oversubscribed.json", scenario(
        "oversubscribed",
        "LLaMA-13B on 16 nodes under 4 leaves that can send up half of what they receive; sharded over the "
        "4 nodes of a leaf, replicated over leaves. Which traffic gets slower? docs/teaching/"
        "oversubscription.md", model,
        {"preset": "dgx-a100", "nodes": 16,
         "fabric": {"nodes_per_leaf": 4, "spines": 8, "oversubscription": 2}}, short, "hsdp-8x4")
    for name, nodes_per_leaf, rails, text in (
            ("plain", 4, 1, "all 8 network cards of a node on one leaf"),
            ("rails", 16, 8, "one leaf for each of a node's 8 network cards")):
        yield f"networks/{name}.json", scenario(
            name,
            f"LLaMA-13B sharded over 16 nodes, {text}; the spines carry a quarter. What crosses them? "
            "docs/teaching/rails.md", model,
            {"preset": "dgx-h100", "nodes": 16,
             "fabric": {"nodes_per_leaf": nodes_per_leaf, "rails": rails, "spines": 8,
                        "oversubscription": 4}}, short, "zero3")
    gpu = "GB200-186GB"
    for name, cluster, text in (
            ("rack-of-72", {"preset": "gb200-nvl72", "nodes": 1}, "one rack that NVLink joins"),
            ("nine-nodes-of-8", {"preset": "dgx-b200", "gpu": gpu, "nodes": 9},
             "9 nodes of 8 with a network card each GPU")):
        yield f"networks/{name}.json", scenario(
            name,
            f"LLaMA-30B sharded over 72 GPUs: {text}. The GPUs are the same. What does the larger NVLink "
            "domain change, and for which plans? docs/teaching/nvlink-domain.md",
            {"preset": "llama-30b"}, cluster, short, "zero3")


def conditions():
    """What a bad day costs; docs/teaching/slow-parts.md."""
    short = {**training(micro_batches=2), "sequence_length": 2048}
    for name, entry, text in (
            ("slow-nic", {"slow_links": [{"at": "node3/nic2", "capacity": 0.5}]},
             "one network card of 128 at half its rate"),
            ("slow-gpu", {"slow_gpus": [{"at": "node3/gpu5", "speed": 0.8}]},
             "one GPU of 128 at 80 % of its speed"),
            ("lost-uplinks", {"failed_links": ["leaf0 - spine[0-3]"]},
             "one leaf of 4 without half of its uplinks"),
            ("jitter", {"jitter": {"sigma": 0.03, "seed": 1, "ranks": "node", "samples": 100}},
             "compute times that vary from step to step, by node")):
        yield f"conditions/{name}.json", scenario(
            name, f"LLaMA-13B on 16 nodes, sharded over 4 and replicated over 4, with {text}. Who waits for "
            "it? docs/teaching/slow-parts.md", {"preset": "llama-13b"},
            {"preset": "dgx-a100", "nodes": 16,
             "fabric": {"nodes_per_leaf": 4, "spines": 8, "oversubscription": 1}}, short, "hsdp-8x4",
            conditions=entry)


def host():
    """Small models that amsp-exec trains on the machine at hand."""
    for ranks, word in ((2, "two"), (4, "four")):
        name = f"host-{word}-ranks"
        yield f"host/{name}.json", {**scenario(
            name, f"{word.capitalize()} processes of one machine train a small model for real (amsp-exec). A rank "
            "is a core: rates are what one core of a server of 2023 reaches in fp32 with OpenBLAS, and are only "
            "used where no profile was measured. See docs/cross-validation.md.",
            {"name": "small", "hidden": 512, "layers": 4, "heads": 8, "ffn": 1376, "vocab": 512},
            {"name": "this machine", "nodes": 1,
             "gpu": {"name": "host core", "peak_bf16": "150GFLOPS", "memory": "4GiB", "hbm_bandwidth": "10GBps",
                     "hbm_efficiency": 0.8, "gemm_efficiency": 0.8, "attention_efficiency": 0.3, "sms": 100},
             "node": {"gpus": ranks, "nvlink": {"kind": "switch", "switches": 1, "bandwidth": "20GBps"},
                      "pcie": {"bandwidth": "20GBps"}, "nics": {"count": 1, "bandwidth": "10Gbps"},
                      "comm_sms": {"intra": 12, "inter": 12}},
             "profile": "none"},
            {"sequence_length": 256, "micro_batch": 1, "micro_batches": 2,
             "precision": {"parameters": "fp32"}}, "zero3"), "stack": "reference"}


TINYLLAMA_CONFIG = {
    "architectures": ["LlamaForCausalLM"], "attention_bias": False, "bos_token_id": 1,
    "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
    "intermediate_size": 5632, "max_position_embeddings": 2048, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 22, "num_key_value_heads": 4,
    "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "tie_word_embeddings": False,
    "torch_dtype": "float32", "vocab_size": 32000}


def text_of(path, content):
    """One line for each part of a scenario."""
    up = "../" * path.count("/")
    content = {"$schema": f"{up}amsp.scenario.schema.json", **content}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def files():
    for part in (paper, table5, tiny, where_to_shard, engines, sharp, buckets, other_clusters,
                 networks, planning, conditions, host):
        for path, content in part():
            yield path, text_of(path, content)
    for name, content in clusters():
        yield f"clusters/{name}.json", json.dumps(content, indent=2) + "\n"
    yield "models/tinyllama-1.1b/config.json", json.dumps(TINYLLAMA_CONFIG, indent=2) + "\n"


def main(arguments):
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent / "scenarios"
    count = 0
    for path, text in files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        count += 1
    print(f"{count} files in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
