"""
Character-level GPT in one file, trained on the sources of a few standard library modules.
Settings can be overridden on the command line: python nanogpt_char.py --max_iters=80
"""
import argparse as argparse_module
import inspect
import math
import os
import sys
import tempfile
import textwrap
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F

from step_clock import StepClock

ZOO = {"id": "checkpoint-stall", "function": "save_checkpoint", "framework": "torch"}

# -----------------------------------------------------------------------------
out_dir = ""
max_iters = 120
batch_size = 4
block_size = 64
n_layer = 4
n_head = 4
n_embd = 160
learning_rate = 1e-3
warmup_iters = 10
log_interval = 10
save_interval = 1
seed = 1337
for arg in sys.argv[1:]:
    if arg == "--fixed":
        save_interval = max_iters
    elif arg.startswith("--") and "=" in arg:
        key, val = arg[2:].split("=")
        assert key in globals(), f"unknown setting {key}"
        globals()[key] = type(globals()[key])(val)
# -----------------------------------------------------------------------------


@dataclass
class GPTConfig:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).view(B, T, 3, self.n_head, C // self.n_head).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.Sequential(nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * config.n_embd, config.n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / max(1, max_iters - warmup_iters)
    return learning_rate * (0.1 + 0.45 * (1 + math.cos(math.pi * ratio)))


def get_batch(data):
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block_size] for i in ix])
    return x, y


def save_checkpoint(folder, model, optimizer, config, iter_num, loss):
    checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                  "model_args": asdict(config), "iter_num": iter_num, "loss": loss}
    path = os.path.join(folder, "ckpt.pt")
    with open(path + ".tmp", "wb") as f:
        torch.save(checkpoint, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".tmp", path)


torch.manual_seed(seed)
text = "".join(inspect.getsource(m) for m in (argparse_module, textwrap, tempfile))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
print(f"data has {len(data)} characters, {len(chars)} unique")

config = GPTConfig(len(chars), block_size, n_layer, n_head, n_embd)
model = GPT(config)
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
holder = tempfile.TemporaryDirectory()
folder = out_dir or holder.name

clock = StepClock()
for iter_num in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(iter_num)
    X, Y = get_batch(data)
    loss = model(X, Y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    lossf = loss.item()
    if iter_num % log_interval == 0:
        print(f"iter {iter_num}: loss {lossf:.4f}")
    if (iter_num + 1) % save_interval == 0:
        save_checkpoint(folder, model, optimizer, config, iter_num, lossf)
    clock.tick()
print(f"final loss {lossf:.4f}")
holder.cleanup()
clock.dump()
