"""A Lightning autoencoder with a checkpoint every second batch, as somebody once set it."""

import argparse
import logging
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {"id": "checkpoint-stall", "function": None, "framework": "lightning"}

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Autoencoder(L.LightningModule):
    def __init__(self, width=500):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(256, width), nn.ELU(), nn.Linear(width, 16))
        self.decode = nn.Sequential(nn.Linear(16, width), nn.ELU(), nn.Linear(width, 256))

    def training_step(self, batch, _):
        (x,) = batch
        return nn.functional.mse_loss(self.decode(self.encode(x)), x)

    def on_train_batch_end(self, *_):
        tick()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


class Signals(L.LightningDataModule):
    """Noisy sums of a few waves."""

    def setup(self, stage):
        time = torch.linspace(0, 6, 256)
        pitch = torch.rand(160 * 128, 3, 1) * 8
        self.waves = (time * pitch).sin().sum(dim=1) + 0.1 * torch.randn(len(pitch), 256)

    def train_dataloader(self):
        return DataLoader(TensorDataset(self.waves), batch_size=128)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    L.seed_everything(9, verbose=False)
    saver = ModelCheckpoint("saved", every_n_train_steps=1000 if asked.fixed else 2)
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[saver],
    )
    model, data = Autoencoder(), Signals()
    trainer.fit(model, data)
    with torch.no_grad():
        rebuilt = model.decode(model.encode(data.waves[:1000]))
    print(f"loss {nn.functional.mse_loss(rebuilt, data.waves[:1000]):.4f}")


if __name__ == "__main__":
    main()
