"""Five updates of the critic in a loop of their own, then one of the generator: one step."""

import torch
from parts import BATCH, loader, seeded
from torch import nn

seeded()
generator = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 256))
critic = nn.Sequential(nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))
optimizer_c = torch.optim.RMSprop(critic.parameters())
optimizer_g = torch.optim.RMSprop(generator.parameters())
batches = iter(loader(60))

for iteration in range(12):
    for _ in range(5):
        real, _labels = next(batches)
        fake = generator(torch.randn(BATCH, 64)).detach()
        loss_c = critic(fake).mean() - critic(real).mean()
        optimizer_c.zero_grad()
        loss_c.backward()
        optimizer_c.step()
    loss_g = -critic(generator(torch.randn(BATCH, 64))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
print(loss_g.item().hex())
