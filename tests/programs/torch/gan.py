import torch
from parts import BATCH, loader, seeded
from torch import nn
from torch.nn import functional as F

seeded()
generator = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 256))
discriminator = nn.Sequential(nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))
optimizer_d = torch.optim.Adam(discriminator.parameters())
optimizer_g = torch.optim.Adam(generator.parameters())


def train_step(real):
    noise = torch.randn(BATCH, 64)
    with torch.no_grad():
        fake = generator(noise)
    optimizer_d.zero_grad()
    loss_d = F.softplus(-discriminator(real)).mean() + F.softplus(discriminator(fake)).mean()
    loss_d.backward()
    optimizer_d.step()
    optimizer_g.zero_grad()
    loss_g = F.softplus(-discriminator(generator(noise))).mean()
    loss_g.backward()
    optimizer_g.step()
    return loss_g


for epoch in range(2):
    for real, _ in loader(15):
        loss = train_step(real)
print(loss.item().hex())
