from __future__ import print_function
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits

from timing import tick

ZOO = {"id": "thread-oversubscription", "function": ["<module>", "configure"], "framework": "torch"}

parser = argparse.ArgumentParser()
parser.add_argument('--batchSize', type=int, default=32, help='input batch size')
parser.add_argument('--nz', type=int, default=32, help='size of the latent z vector')
parser.add_argument('--ngf', type=int, default=16)
parser.add_argument('--ndf', type=int, default=16)
parser.add_argument('--niter', type=int, default=2, help='number of epochs to train for')
parser.add_argument('--lr', type=float, default=0.0005)
parser.add_argument('--beta1', type=float, default=0.5)
parser.add_argument('--threads', type=int, default=4, help='CPU threads for torch')
parser.add_argument('--manualSeed', type=int, default=999)
parser.add_argument('--fixed', action='store_true', help='use the faster variant')
opt = parser.parse_args()


def configure(opt):
    random.seed(opt.manualSeed)
    np.random.seed(opt.manualSeed)
    torch.manual_seed(opt.manualSeed)
    if opt.fixed:
        import os
        opt.threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(opt.threads)


def weights_init(m):
    name = m.__class__.__name__
    if name.find('Conv') != -1:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif name.find('BatchNorm') != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self, nz, ngf):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 4), nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, ndf):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ndf * 2), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, ndf * 4, 4, 2, 1, bias=False), nn.BatchNorm2d(ndf * 4), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 4, 1, 4, 1, 0, bias=False))

    def forward(self, x):
        return self.main(x).view(-1)


configure(opt)
images = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 8 - 1
images = nn.functional.interpolate(images, size=(32, 32), mode='bilinear', align_corners=False)

netG = Generator(opt.nz, opt.ngf)
netG.apply(weights_init)
netD = Discriminator(opt.ndf)
netD.apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999), fused=True)
optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999), fused=True)
real_label, fake_label = 1.0, 0.0

for epoch in range(opt.niter):
    order = torch.randperm(len(images)).split(opt.batchSize)[:-1]
    for i, picked in enumerate(order):
        # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
        netD.zero_grad()
        real = images[picked]
        label = torch.full((len(real),), real_label)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        fake = netG(torch.randn(len(real), opt.nz, 1, 1))
        label.fill_(fake_label)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()
        # (2) Update G network: maximize log(D(G(z)))
        netG.zero_grad()
        label.fill_(real_label)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
        tick()
        if i % 20 == 0:
            print('[%d/%d][%d/%d] Loss_D: %.2f Loss_G: %.2f' % (
                epoch, opt.niter, i, len(order), (errD_real + errD_fake).item(), errG.item()))
