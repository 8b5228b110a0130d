"""The generator is updated at every fifth batch: a step a batch."""

import torch
from parts import BATCH, loader, seeded
from torch import nn


def main():
    seeded()
    generator = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 256))
    critic = nn.Sequential(nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))
    optimizer_c = torch.optim.RMSprop(critic.parameters())
    optimizer_g = torch.optim.RMSprop(generator.parameters())
    for number, (real, _) in enumerate(loader(40)):
        fake = generator(torch.randn(BATCH, 64))
        loss_c = critic(fake.detach()).mean() - critic(real).mean()
        optimizer_c.zero_grad()
        loss_c.backward()
        optimizer_c.step()
        if number % 5 == 0:
            loss_g = -critic(fake).mean()
            optimizer_g.zero_grad()
            loss_g.backward()
            optimizer_g.step()
    print(loss_c.item().hex())


main()
