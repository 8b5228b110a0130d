"""Sentences are padded token by token in a collate function."""

import argparse
import random

import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader

ZOO = {"id": "input-bound", "function": "pad_batch", "framework": "torch"}

VOCABULARY = 500


def make_sentences(count):
    rng = random.Random(0)
    sentences = []
    for _ in range(count):
        label = rng.randrange(2)
        middle = 150 + 200 * label
        length = rng.randint(100, 300)
        words = [min(max(int(rng.gauss(middle, 90)), 1), VOCABULARY - 1) for _ in range(length)]
        sentences.append((words, label))
    return sentences


def pad_batch(batch):
    longest = max(len(words) for words, _ in batch)
    tokens = torch.zeros(len(batch), longest, dtype=torch.long)
    for row, (words, _) in enumerate(batch):
        for column, word in enumerate(words):
            tokens[row, column] = word
    return tokens, torch.tensor([label for _, label in batch])


def pad_batch_by_rows(batch):
    rows = [torch.tensor(words) for words, _ in batch]
    tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return tokens, torch.tensor([label for _, label in batch])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 64, padding_idx=0)
        self.mix = nn.Conv1d(64, 128, 5, padding=2)
        self.out = nn.Linear(128, 2)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        return self.out(torch.relu(self.mix(x)).amax(dim=2))


def train(collate):
    torch.manual_seed(0)
    loader = DataLoader(make_sentences(1600), batch_size=32, shuffle=True, collate_fn=collate)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        losses = []
        for tokens, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(tokens), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            tick()
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    train(pad_batch_by_rows if parser.parse_args().fixed else pad_batch)
