"""Small pieces that the Lightning programs share. Which package is meant: the first argument."""

import importlib
import logging
import sys
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

lightning = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "lightning.pytorch")
BATCH = 64
torch.manual_seed(0)
torch.set_num_threads(1)
warnings.simplefilter("ignore")


def loader(batches, shuffle=False):
    images = torch.randn(batches * BATCH, 256)
    labels = torch.randint(0, 10, (batches * BATCH,))
    return DataLoader(TensorDataset(images, labels), batch_size=BATCH, shuffle=shuffle)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        self.losses = []

    def forward(self, images):
        return self.net(images)

    def loss(self, batch):
        images, labels = batch
        return nn.functional.cross_entropy(self(images), labels)

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("loss", loss, prog_bar=True)
        self.losses.append(loss.detach())
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("validation_loss", self.loss(batch))

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def predict_step(self, batch, batch_idx):
        return self(batch[0])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

    def print_losses(self):
        for loss in self.losses:
            print(loss.item().hex())


def trainer(**options):
    if "profiler" not in options:  # else its report is wanted
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    return lightning.Trainer(**{"accelerator": "cpu", **quiet, **options})
