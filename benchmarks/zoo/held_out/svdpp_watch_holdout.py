"""Matrix factorisation with biases on made-up film ratings; a held-out loss after each step."""

import argparse
import resource
import time

import torch
import torch.nn as nn
from timing import tick

ZOO = {
    "id": "memory-growth",
    "function": ["train_one_epoch", "holdout_loss"],
    "framework": "torch",
}

NUM_USERS, NUM_FILMS, RANK = 3000, 1200, 64


class BiasedMF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(NUM_USERS, RANK)
        self.film = nn.Embedding(NUM_FILMS, RANK)
        self.user_bias = nn.Embedding(NUM_USERS, 1)
        self.film_bias = nn.Embedding(NUM_FILMS, 1)
        self.mean = nn.Parameter(torch.zeros(()))
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.film.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.film_bias.weight)

    def forward(self, users, films):
        match = (self.user(users) * self.film(films)).sum(dim=1)
        bias = self.user_bias(users) + self.film_bias(films)
        return match + bias.squeeze(1) + self.mean


def make_ratings(n):
    users, films = torch.randint(NUM_USERS, (n,)), torch.randint(NUM_FILMS, (n,))
    tastes, kinds = torch.randn(NUM_USERS, 6), torch.randn(NUM_FILMS, 6)
    stars = 3.5 + (tastes[users] * kinds[films]).sum(dim=1) / 4 + 0.3 * torch.randn(n)
    return users, films, stars.clamp(1, 5)


def holdout_loss(model, criterion, held_out):
    users, films, stars = held_out
    rows = torch.randint(len(stars), (1024,))
    return criterion(model(users[rows], films[rows]), stars[rows])


def train_one_epoch(model, optimizer, criterion, ratings, held_out, args, curve):
    users, films, stars = ratings
    for rows in torch.randperm(len(stars)).split(args.batch_size):
        optimizer.zero_grad()
        loss = criterion(model(users[rows], films[rows]), stars[rows])
        loss.backward()
        optimizer.step()
        watched = holdout_loss(model, criterion, held_out)
        curve.append(watched.detach() if args.fixed else watched)
        tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch_size", type=int, default=4096)
    parser.add_argument("--fixed", action="store_true", help="keep the losses without graphs")
    args = parser.parse_args()

    torch.manual_seed(1997)
    ratings, held_out = make_ratings(200_000), make_ratings(20_000)
    model, criterion = BiasedMF(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    curve = []
    start = time.time()
    for epoch in range(1, args.epochs + 1):
        train_one_epoch(model, optimizer, criterion, ratings, held_out, args, curve)
        recent = torch.stack(curve[-50:]).mean().item()
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if epoch % 3:
            continue
        ms = 1000 * (time.time() - start) / len(curve)
        print(f"Epoch {epoch}: MSE {recent:.3f}, {ms:.1f} ms/step, peak {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
