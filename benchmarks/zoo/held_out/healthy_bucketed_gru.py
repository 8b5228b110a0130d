"""Word-level language model; sentences of like length share a batch, so steps differ in cost."""

import argparse
import logging
import math

import torch
import torch.nn.functional as F
from step_clock import StepClock
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}

log = logging.getLogger("gru")
VOCABULARY = 600


def corpus(sentences, generator):
    """A noisy cycle through the vocabulary: token t is mostly followed by 7t + 3."""
    lengths = torch.randint(16, 64, (sentences,), generator=generator)
    longest = int(lengths.max())
    tokens = torch.zeros(sentences, longest, dtype=torch.long)
    tokens[:, 0] = torch.randint(VOCABULARY, (sentences,), generator=generator)
    for i in range(1, longest):
        noise = torch.randint(VOCABULARY, (sentences,), generator=generator)
        follow = (7 * tokens[:, i - 1] + 3) % VOCABULARY
        tokens[:, i] = torch.where(torch.rand(sentences, generator=generator) < 0.8, follow, noise)
    return tokens, lengths


def buckets(tokens, lengths, size, shuffle):
    """Batches of sentences of about the same length, cut to the longest of them."""
    order = lengths.argsort()
    chunks = order.split(size)
    if shuffle:
        chunks = [chunks[i] for i in torch.randperm(len(chunks))]
    for rows in chunks:
        width = int(lengths[rows].max())
        batch = tokens[rows, :width]
        mask = torch.arange(width - 1) < (lengths[rows] - 1).unsqueeze(1)
        yield batch[:, :-1], batch[:, 1:], mask


class LanguageModel(nn.Module):
    def __init__(self, dim=96, hidden=160):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.head = nn.Linear(hidden, VOCABULARY)

    def loss(self, inputs, targets, mask):
        states, _ = self.rnn(self.embed(inputs))
        return F.cross_entropy(self.head(states[mask]), targets[mask])


@torch.no_grad()
def perplexity(model, tokens, lengths):
    losses = [model.loss(*batch) for batch in buckets(tokens, lengths, 128, shuffle=False)]
    return math.exp(torch.stack(losses).mean().item())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="changes nothing here")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")

    generator = torch.Generator().manual_seed(5)
    torch.manual_seed(5)
    train = corpus(2400, generator)
    valid = corpus(256, generator)
    model = LanguageModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    clock = StepClock()
    step = 0
    for epoch in range(args.epochs):
        for inputs, targets, mask in buckets(*train, 64, shuffle=True):
            loss = model.loss(inputs, targets, mask)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 20 == 0:
                log.info("step %d loss %.3f width %d", step, loss.item(), inputs.shape[1])
            clock.tick()
        log.info("epoch %d perplexity %.1f", epoch, perplexity(model, *valid))
    clock.dump()


if __name__ == "__main__":
    main()
