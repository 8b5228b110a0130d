"""Lightning: the trainer is given a profiler, whose mode is the first argument."""

import sys

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stepscope.lightning import Profiler


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return nn.functional.cross_entropy(self.net(images), labels)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class Norms(pl.Callback):
    """Sums up every weight, one by one: that is what is slow here."""

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        for weight in module.parameters():
            self.norm = sum(value**2 for value in weight.flatten().tolist()) ** 0.5


def loader(batches):
    images, labels = torch.randn(batches * 32, 64), torch.randint(0, 10, (batches * 32,))
    return DataLoader(TensorDataset(images, labels), batch_size=32)


if __name__ == "__main__":
    profiler = Profiler(sys.argv[1] if len(sys.argv) > 1 else "simple", filename="perf")
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=pl.loggers.CSVLogger("."),
        callbacks=[Norms()],
        profiler=profiler,
    )
    trainer.fit(Classifier(), loader(20))
