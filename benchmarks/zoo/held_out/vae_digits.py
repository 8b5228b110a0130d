from __future__ import print_function
import argparse
import logging
import os
import tempfile

import torch
import torch.utils.data
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F

from step_clock import StepClock

ZOO = {"id": "logging-stall", "function": "log_batch", "framework": "torch"}

parser = argparse.ArgumentParser(description='VAE digits example')
parser.add_argument('--batch-size', type=int, default=128, metavar='N')
parser.add_argument('--epochs', type=int, default=24, metavar='N')
parser.add_argument('--seed', type=int, default=1, metavar='S')
parser.add_argument('--log-file', default='', help='where the run log goes (default: a temporary file)')
parser.add_argument('--fixed', action='store_true', help='use the faster variant')
args = parser.parse_args()

torch.manual_seed(args.seed)

log_path = args.log_file or os.path.join(tempfile.mkdtemp(prefix='vae_'), 'train.log')
logger = logging.getLogger('vae')
logger.setLevel(logging.INFO if args.fixed else logging.DEBUG)
handler = logging.FileHandler(log_path)
handler.setFormatter(logging.Formatter('%(asctime)s %(levelname)s %(name)s:%(lineno)d %(message)s'))
logger.addHandler(handler)
logger.propagate = False

digits = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
images = F.interpolate(digits, size=(28, 28), mode='bilinear', align_corners=False).clamp(0, 1)
dataset = torch.utils.data.TensorDataset(images.view(-1, 784))
sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(dataset), args.batch_size, drop_last=True)
train_loader = torch.utils.data.DataLoader(dataset, sampler=sampler, batch_size=None)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(784, 400)
        self.fc21 = nn.Linear(400, 20)
        self.fc22 = nn.Linear(400, 20)
        self.fc3 = nn.Linear(20, 400)
        self.fc4 = nn.Linear(400, 784)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return self.fc4(F.relu(self.fc3(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-3, fused=True)


def loss_terms(recon_logits, x, mu, logvar):
    """Reconstruction and KL divergence of each sample."""
    bce = F.binary_cross_entropy_with_logits(recon_logits, x, reduction='none').sum(1)
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
    return bce, kld


def log_batch(epoch, batch_idx, bce, kld, mu):
    logger.info('epoch=%d batch=%d bce=%.4f kld=%.4f', epoch, batch_idx, bce.mean(), kld.mean())
    if logger.isEnabledFor(logging.DEBUG):
        for i, (b, k, m) in enumerate(zip(bce.tolist(), kld.tolist(), mu.tolist())):
            logger.debug('epoch=%d batch=%d sample=%d bce=%.5f kld=%.5f mu=%s', epoch, batch_idx, i, b, k,
                         ' '.join('%+.3f' % v for v in m))


def train(epoch, clock):
    model.train()
    train_loss = 0
    for batch_idx, (data,) in enumerate(train_loader):
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        bce, kld = loss_terms(recon, data, mu, logvar)
        loss = (bce + kld).mean()
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        log_batch(epoch, batch_idx, bce.detach(), kld.detach(), mu.detach())
        clock.tick()
    print('====> Epoch: {} Average loss: {:.4f}'.format(epoch, train_loss / len(train_loader)))


if __name__ == "__main__":
    clock = StepClock()
    for epoch in range(1, args.epochs + 1):
        train(epoch, clock)
    handler.close()
    if not args.log_file:
        os.remove(log_path)
    clock.dump()
