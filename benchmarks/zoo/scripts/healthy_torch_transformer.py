"""A small transformer of torch's own layers with a fused optimizer and clipped gradients."""

import argparse
import time

import torch
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}

VOCABULARY, LENGTH, WIDTH = 64, 64, 128


class Copier(nn.Module):
    """Predicts each token from those before it."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.out(self.body(self.tokens(tokens) + self.places, mask, is_causal=True))


def make_batch():
    """Sequences that count upwards with a stride of their own."""
    start = torch.randint(0, VOCABULARY, (16, 1))
    stride = torch.randint(1, 4, (16, 1))
    return (start + stride * torch.arange(LENGTH + 1)) % VOCABULARY


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    torch.manual_seed(0)
    model = Copier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    began = time.perf_counter()
    for step in range(80):
        sequence = make_batch()
        scores = model(sequence[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), sequence[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f} after {time.perf_counter() - began:.1f} s")
        tick()


if __name__ == "__main__":
    main()
