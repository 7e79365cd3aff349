"""The executor against an independent implementation in PyTorch, in fp64: LLaMA as Hugging Face
defines it, trained by torch.optim.AdamW and clip_grad_norm_ on the same tokens from the same
parameters. Usage: oracle_test.py ORACLE_RUN"""
import json
import subprocess
import sys
import unittest

import torch
import torch.nn.functional as F

PROGRAM = sys.argv[1]
torch.set_num_threads(1)


def rotate(x, theta):
    """x: [batch, heads, sequence, dim]."""
    length, dim = x.shape[-2:]
    inverse = 1.0 / theta ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), inverse)
    angles = torch.cat((angles, angles), dim=-1)
    half = torch.cat((-x[..., dim // 2:], x[..., :dim // 2]), dim=-1)
    return x * angles.cos() + half * angles.sin()


class Llama:
    def __init__(self, config, values):
        self.c = config
        self.p = {}
        for name, flat in values.items():
            tensor = torch.tensor(flat, dtype=torch.float64)
            if not name.endswith("norm.weight") and not name.endswith(".bias"):
                tensor = tensor.reshape(-1, self.columns(name))
            self.p[name] = tensor.requires_grad_()

    def columns(self, name):
        if "o_proj" in name:
            return self.c["heads"] * self.c["head_dim"]
        return self.c["ffn"] if "down_proj" in name else self.c["hidden"]

    def linear(self, name, x):
        return F.linear(x, self.p[name + ".weight"], self.p.get(name + ".bias"))

    def split(self, prefix, names, fused, widths, x):
        if prefix + fused + ".weight" in self.p:
            return self.linear(prefix + fused, x).split(widths, dim=-1)
        return [self.linear(prefix + name, x) for name in names]

    def norm(self, name, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.c["eps"]) * self.p[name + ".weight"]

    def attention(self, prefix, x):
        c = self.c
        batch, length, _ = x.shape
        heads, groups, dim = c["heads"], c["kv_heads"], c["head_dim"]
        parts = self.split(prefix, ("q_proj", "k_proj", "v_proj"), "qkv_proj",
                           (heads * dim, groups * dim, groups * dim), x)
        q, k, v = (part.view(batch, length, -1, dim).transpose(1, 2) for part in parts)
        q, k = rotate(q, c["theta"]), rotate(k, c["theta"])
        k, v = (t.repeat_interleave(heads // groups, dim=1) for t in (k, v))
        scores = q @ k.transpose(-1, -2) / dim ** 0.5
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        out = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
        return self.linear(prefix + "o_proj", out.transpose(1, 2).reshape(batch, length, -1))

    def loss(self, sequences):
        inputs, targets = sequences[:, :-1], sequences[:, 1:]
        x = self.p["embed_tokens.weight"][inputs]
        for layer in range(self.c["layers"]):
            prefix = f"layers.{layer}."
            x = x + self.attention(prefix + "self_attn.", self.norm(prefix + "input_layernorm", x))
            gate, up = self.split(prefix + "mlp.", ("gate_proj", "up_proj"), "gate_up_proj",
                                  (self.c["ffn"],) * 2, self.norm(prefix + "post_attention_layernorm", x))
            x = x + self.linear(prefix + "mlp.down_proj", F.silu(gate) * up)
        head = self.p.get("lm_head.weight", self.p["embed_tokens.weight"])
        logits = F.linear(self.norm("norm", x), head)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Oracle(unittest.TestCase):
    def check(self, variant):
        run = json.loads(subprocess.run([PROGRAM, variant], check=True, capture_output=True, text=True).stdout)
        model, options = Llama(run["model"], run["initial"]), run["optimizer"]
        decayed = [p for p in model.p.values() if p.dim() == 2]
        others = [p for p in model.p.values() if p.dim() == 1]
        optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": options["weight_decay"]}, {"params": others, "weight_decay": 0.0}],
            lr=options["lr"], betas=options["betas"], eps=options["eps"])
        furthest = 0.0
        self.assertEqual(len(run["losses"]), 20)
        for batch, expected in zip(run["batches"], run["losses"]):
            optimizer.zero_grad()
            loss = model.loss(torch.tensor(batch))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(model.p.values()), options["max_norm"])
            optimizer.step()
            furthest = max(furthest, abs(expected / loss.item() - 1))
        self.assertLess(furthest, 1e-9)
        self.assertLess(run["losses"][-1], run["losses"][0])
        apart = 0.0
        for name, flat in run["trained"].items():
            mine = model.p[name].detach().flatten()
            apart = max(apart, ((torch.tensor(flat, dtype=torch.float64) - mine).norm() / mine.norm()).item())
        self.assertLess(apart, 1e-9)
        print(f"{variant}: losses differ by {furthest:.1e}, trained parameters by {apart:.1e}")

    def test_grouped_queries(self):
        self.check("plain")

    def test_fused_projections(self):
        self.check("fused")

    def test_biases_and_tied_embeddings(self):
        self.check("biased-tied")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
