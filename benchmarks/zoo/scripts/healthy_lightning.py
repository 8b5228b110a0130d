"""A Lightning module with the usual logging and a validation once an epoch."""

import argparse
import logging
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.loggers import CSVLogger
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {"id": None, "function": None, "framework": "lightning"}

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Digits(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 121, 10),
        )  # fmt: skip

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("accuracy", (self.net(x).argmax(dim=1) == y).float().mean())

    def on_train_batch_end(self, outputs, batch, batch_idx):
        tick()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02, momentum=0.9)


def make_digits(count):
    labels = torch.randint(0, 10, (count,))
    images = torch.rand(count, 1, 28, 28)
    images[torch.arange(count), 0, labels * 2 + 4] += 0.6
    return TensorDataset(images, labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    L.seed_everything(0, verbose=False)
    trainer = L.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=CSVLogger("logs"),
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    training = DataLoader(make_digits(6400), batch_size=128, shuffle=True)
    trainer.fit(Digits(), training, DataLoader(make_digits(256), batch_size=128))
    print({name: round(float(value), 3) for name, value in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main()
