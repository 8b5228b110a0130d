"""Segments bright rods ("bacteria") on a noisy background with a small encoder-decoder."""

import argparse
import time

import torch
from timing import tick
from torch import nn
from torch.nn import functional as F

ZOO = {"id": None, "function": None, "framework": "torch"}

SIDE = 32


def draw(count, generator):
    """Images and masks with four rods each."""
    grid = torch.linspace(-1, 1, SIDE)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    masks = torch.zeros(count, SIDE, SIDE, dtype=torch.bool)
    for _ in range(4):
        middle = 1.6 * torch.rand(count, 2, 1, 1, generator=generator) - 0.8
        angle = 3.1416 * torch.rand(count, 1, 1, generator=generator)
        dx, dy = x - middle[:, 0], y - middle[:, 1]
        along = dx * angle.cos() + dy * angle.sin()
        across = dy * angle.cos() - dx * angle.sin()
        masks |= (along.abs() < 0.3) & (across.abs() < 0.07)
    masks = masks.float().unsqueeze(1)
    shade = torch.rand(count, 1, 1, 1, generator=generator)
    images = 0.7 * masks + shade + 0.5 * torch.randn(masks.shape, generator=generator)
    return images, masks


def double_conv(n_in, n_out):
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(inplace=True),
        nn.Conv2d(n_out, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(inplace=True),
    )


class RodNet(nn.Module):
    def __init__(self, base=12):
        super().__init__()
        self.down1 = double_conv(1, base)
        self.down2 = double_conv(base, 2 * base)
        self.bottom = double_conv(2 * base, 4 * base)
        self.up2 = double_conv(6 * base, 2 * base)
        self.up1 = double_conv(3 * base, base)
        self.last = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        b = self.bottom(F.max_pool2d(d2, 2))
        u2 = self.up2(torch.cat([F.interpolate(b, scale_factor=2), d2], dim=1))
        u1 = self.up1(torch.cat([F.interpolate(u2, scale_factor=2), d1], dim=1))
        return self.last(u1)


def dice_loss(logits, masks, smooth=1.0):
    p = logits.sigmoid()
    overlap = (p * masks).sum(dim=(1, 2, 3))
    total = p.sum(dim=(1, 2, 3)) + masks.sum(dim=(1, 2, 3))
    return 1 - ((2 * overlap + smooth) / (total + smooth)).mean()


@torch.inference_mode()
def iou(model, images, masks):
    model.eval()
    found, wanted = model(images) > 0, masks > 0.5
    model.train()
    return ((found & wanted).sum() / (found | wanted).sum()).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="ignored: there is nothing to fix")
    parser.parse_args()
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    images, masks = draw(640, generator)
    held_images, held_masks = draw(24, generator)
    model = RodNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    epochs, size = 9, 16
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=epochs * 40)
    began, steps = time.perf_counter(), 0
    for epoch in range(1, epochs + 1):
        for rows in torch.randperm(len(images)).split(size):
            flips = [d for d in (2, 3) if torch.rand(()) < 0.5]
            x, y = images[rows].flip(flips), masks[rows].flip(flips)
            logits = model(x)
            loss = F.binary_cross_entropy_with_logits(logits, y) + dice_loss(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            steps += 1
            tick()
        if epoch % 3 == 0:
            ms = 1000 * (time.perf_counter() - began) / steps
            score = iou(model, held_images, held_masks)
            print(f"epoch {epoch}: loss {loss.item():.3f}, IoU {score:.3f}, {ms:.1f} ms per step")


if __name__ == "__main__":
    main()
