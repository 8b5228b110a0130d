"""
U-Net for binary segmentation of small synthetic CT volumes.

    python unet_segmentation.py --epochs 3 --batch-size 8
"""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from step_clock import StepClock

ZOO = {"id": "repeated-load", "function": ["VolumeSlices.__getitem__", "VolumeSlices._volume"], "framework": "torch"}


def write_phantoms(root, patients=10, depth=32, size=64, seed=0):
    """One compressed archive per patient, with the scan and the organ mask."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:size, :size]
    for p in range(patients):
        scan = rng.normal(0.0, 0.25, (depth, size, size)).astype(np.float32)
        mask = np.zeros((depth, size, size), np.uint8)
        cx, cy = rng.uniform(20, size - 20, 2)
        for z in range(depth):
            r = 6 + 8 * np.sin(np.pi * z / depth)
            inside = (xx - cx - z * 0.3) ** 2 + (yy - cy) ** 2 < r * r
            mask[z][inside] = 1
            scan[z][inside] += 0.8
        np.savez_compressed(os.path.join(root, f"patient_{p:03d}.npz"), scan=scan, mask=mask)


class VolumeSlices(Dataset):
    """Axial slices of all the volumes below a folder."""

    def __init__(self, root, depth=32, cache=False):
        self.paths = sorted(os.path.join(root, n) for n in os.listdir(root) if n.endswith(".npz"))
        self.index = [(p, z) for p in range(len(self.paths)) for z in range(depth)]
        self.cache = {} if cache else None

    def __len__(self):
        return len(self.index)

    def _volume(self, p):
        with np.load(self.paths[p]) as archive:
            return archive["scan"], archive["mask"]

    def __getitem__(self, i):
        p, z = self.index[i]
        if self.cache is None:
            scan, mask = self._volume(p)
        else:
            if p not in self.cache:
                self.cache[p] = self._volume(p)
            scan, mask = self.cache[p]
        image = torch.from_numpy(scan[z][None].copy())
        target = torch.from_numpy(mask[z][None].astype(np.float32))
        return image, target


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.body(x)


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.inc = DoubleConv(1, base)
        self.down1 = DoubleConv(base, base * 2)
        self.down2 = DoubleConv(base * 2, base * 4)
        self.up1 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2)
        self.dec1 = DoubleConv(base * 4, base * 2)
        self.up2 = nn.ConvTranspose2d(base * 2, base, 2, stride=2)
        self.dec2 = DoubleConv(base * 2, base)
        self.outc = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        a = self.inc(x)
        b = self.down1(F.max_pool2d(a, 2))
        c = self.down2(F.max_pool2d(b, 2))
        d = self.dec1(torch.cat([b, self.up1(c)], 1))
        e = self.dec2(torch.cat([a, self.up2(d)], 1))
        return self.outc(e)


def dice_loss(logits, target, eps=1.0):
    prob = torch.sigmoid(logits)
    inter = (prob * target).sum()
    return 1 - (2 * inter + eps) / (prob.sum() + target.sum() + eps)


def train(args):
    torch.manual_seed(args.seed)
    with tempfile.TemporaryDirectory() as root:
        write_phantoms(root, seed=args.seed)
        dataset = VolumeSlices(root, cache=args.fixed)
        loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, drop_last=True)
        net = UNet()
        optimizer = torch.optim.Adam(net.parameters(), lr=args.lr, fused=True)
        clock = StepClock()
        for epoch in range(args.epochs):
            net.train()
            total = 0.0
            for images, masks in loader:
                logits = net(images)
                loss = F.binary_cross_entropy_with_logits(logits, masks) + dice_loss(logits, masks)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
                clock.tick()
            print(f"epoch {epoch + 1}/{args.epochs}  loss {total / len(loader):.4f}")
        clock.dump()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant")
    train(parser.parse_args())
