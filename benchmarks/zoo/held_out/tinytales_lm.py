"""Trains a tiny GPT on made-up children's stories."""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from timing import tick
from torch.nn import functional as F

ZOO = {"id": "repeated-load", "function": "get_batch", "framework": "torch"}

batch_size = 8
block_size = 64
max_iters = 400
log_interval = 40
learning_rate = 1e-3


@dataclass
class GPTConfig:
    vocab_size: int = 97
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 64


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=False)
        self.proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd),
            nn.GELU(),
            nn.Linear(4 * config.n_embd, config.n_embd),
        )

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln_1(x)).view(B, T, 3, self.n_head, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(block_size, config.n_embd)
        self.h = nn.Sequential(*[Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe.weight[: idx.size(1)]
        logits = self.lm_head(self.ln_f(self.h(x)))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def prepare(data_dir, n_words=1_200_000):
    """Writes train.npy: words of a small vocabulary, spelled out and one after the other."""
    rng = np.random.default_rng(1337)
    words = [rng.integers(1, 97, rng.integers(2, 9)) for _ in range(400)]
    picked = rng.zipf(1.4, n_words) % len(words)
    spelled = [np.append(words[i], 0) for i in picked]
    np.save(os.path.join(data_dir, "train.npy"), np.concatenate(spelled).astype(np.uint16))


def get_batch(data_dir, data=None):
    if data is None:
        tokens = np.load(os.path.join(data_dir, "train.npy"))
        data = torch.from_numpy(tokens.astype(np.int64))
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="hold the tokens in memory")
    args = parser.parse_args()
    torch.manual_seed(1337)
    model = GPT(GPTConfig())
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95))
    with tempfile.TemporaryDirectory() as data_dir:
        prepare(data_dir)
        data = None
        if args.fixed:
            tokens = np.load(os.path.join(data_dir, "train.npy"))
            data = torch.from_numpy(tokens.astype(np.int64))
        t0 = time.time()
        for iter_num in range(1, max_iters + 1):
            X, Y = get_batch(data_dir, data)
            loss = model(X, Y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if iter_num % log_interval == 0:
                dt = (time.time() - t0) / log_interval
                print(f"iter {iter_num}: loss {loss.item():.4f}, time {dt * 1000:.2f}ms")
                t0 = time.time()
            tick()


if __name__ == "__main__":
    main()
