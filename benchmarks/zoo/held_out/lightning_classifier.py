"""Digit classification with LightningModule / LightningDataModule."""
import logging
import sys
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from step_clock import StepClock

ZOO = {"id": "evaluation-stall", "function": ["LitDigits.validation_step", "main", "build_trainer"], "framework": "lightning"}

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class DigitsDataModule(L.LightningDataModule):
    def __init__(self, batch_size=64, seed=7):
        super().__init__()
        self.batch_size = batch_size
        self.seed = seed

    def setup(self, stage=None):
        raw = load_digits()
        x = torch.from_numpy(raw.images).float().unsqueeze(1) / 16
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        y = torch.from_numpy(raw.target)
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(self.seed))
        self.train_set = TensorDataset(x[order[:1280]], y[order[:1280]])
        self.val_set = TensorDataset(x[order[1280:]], y[order[1280:]])

    def train_dataloader(self):
        generator = torch.Generator().manual_seed(self.seed)
        return DataLoader(self.train_set, self.batch_size, shuffle=True, generator=generator)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=256)


class LitDigits(L.LightningModule):
    def __init__(self, width=24, lr=2e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, width * 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(width * 2 * 16, 10))
        self.val_hits, self.val_seen = 0, 0

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        return loss

    def on_validation_epoch_start(self):
        self.val_hits, self.val_seen = 0, 0

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.val_hits += (logits.argmax(1) == y).sum().item()
        self.val_seen += len(y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr, fused=True)


class ReportCallback(L.Callback):
    def __init__(self):
        self.clock = StepClock()
        self.losses = []

    def on_train_start(self, trainer, module):
        self.clock.start()

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.losses.append(outputs["loss"].item())
        self.clock.tick()

    def on_train_epoch_end(self, trainer, module):
        mean = sum(self.losses) / len(self.losses)
        self.losses.clear()
        print(f"epoch {trainer.current_epoch}: train_loss {mean:.4f} val_acc {module.val_hits / module.val_seen:.4f}")


def build_trainer(callback, fixed):
    return L.Trainer(
        max_epochs=7,
        accelerator="cpu",
        val_check_interval=1.0 if fixed else 4,
        num_sanity_val_steps=0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[callback],
    )


def main():
    L.seed_everything(11)
    callback = ReportCallback()
    trainer = build_trainer(callback, fixed="--fixed" in sys.argv)
    trainer.fit(LitDigits(), datamodule=DigitsDataModule())
    callback.clock.dump()


if __name__ == "__main__":
    main()
