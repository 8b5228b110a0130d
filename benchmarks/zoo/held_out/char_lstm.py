"""Char-RNN: LSTM language model with truncated back-propagation, in the style of the PyTorch word LM example."""
import argparse
import inspect
import json
import math
import subprocess

import torch
import torch.nn as nn

from step_clock import StepClock

ZOO = {"id": None, "function": None, "framework": "torch"}


class Corpus(object):
    def __init__(self, modules):
        text = ''.join(inspect.getsource(m) for m in modules)
        self.vocab = sorted(set(text))
        lookup = {c: i for i, c in enumerate(self.vocab)}
        self.ids = torch.tensor([lookup[c] for c in text])


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid, self.nlayers = nhid, nlayers

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output).flatten(0, 1), hidden

    def init_hidden(self, bsz):
        return tuple(torch.zeros(self.nlayers, bsz, self.nhid) for _ in range(2))


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data[:nbatch * bsz].view(bsz, -1).t().contiguous()


def segments(source, bptt):
    for i in range(0, source.size(0) - 1 - bptt, bptt):
        yield source[i:i + bptt], source[i + 1:i + 1 + bptt].reshape(-1)


def repackage_hidden(h):
    return tuple(v.detach() for v in h)


def train_epoch(model, source, optimizer, args, clock, epoch):
    model.train()
    hidden = model.init_hidden(args.batch_size)
    total = count = 0
    for batch, (data, targets) in enumerate(segments(source, args.bptt), 1):
        optimizer.zero_grad()
        output, hidden = model(data, repackage_hidden(hidden))
        loss = nn.functional.cross_entropy(output, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += loss.item()
        count += 1
        clock.tick()
        if batch % args.log_interval == 0:
            print('| epoch {:2d} | {:3d} batches | loss {:5.2f} | ppl {:8.2f}'.format(
                epoch, batch, total / count, math.exp(total / count)))
            total = count = 0


def main():
    parser = argparse.ArgumentParser(description='character-level LSTM language model')
    parser.add_argument('--emsize', type=int, default=64)
    parser.add_argument('--nhid', type=int, default=160)
    parser.add_argument('--nlayers', type=int, default=1)
    parser.add_argument('--lr', type=float, default=3e-3)
    parser.add_argument('--clip', type=float, default=1.0)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--batch-size', type=int, default=64)
    parser.add_argument('--bptt', type=int, default=40)
    parser.add_argument('--log-interval', type=int, default=20)
    parser.add_argument('--fixed', action='store_true', help='use the faster variant (there is only one here)')
    args = parser.parse_args()
    torch.manual_seed(1111)
    corpus = Corpus([argparse, subprocess, json.decoder, json.encoder])
    source = batchify(corpus.ids, args.batch_size)
    model = RNNModel(len(corpus.vocab), args.emsize, args.nhid, args.nlayers)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, fused=True)
    clock = StepClock()
    for epoch in range(1, args.epochs + 1):
        train_epoch(model, source, optimizer, args, clock, epoch)
    clock.dump()


if __name__ == '__main__':
    main()
