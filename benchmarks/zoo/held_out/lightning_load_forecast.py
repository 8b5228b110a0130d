"""Electricity load forecasting with Lightning; a killed run can go on from its checkpoint."""

import argparse
import logging
import tempfile
import warnings
from pathlib import Path

import lightning as L
import numpy as np
import torch
from step_clock import StepClock
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {
    "id": "checkpoint-stall",
    "function": "KeepLatest.on_train_batch_end",
    "framework": "lightning",
}

HISTORY, AHEAD = 168, 24


def load_curve(hours, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    day = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24)
    week = 0.5 * np.sin(2 * np.pi * t / 168)
    return (day + week + 0.2 * rng.normal(size=hours)).astype(np.float32)


def windows(curve, stride):
    cut = np.lib.stride_tricks.sliding_window_view(curve, HISTORY + AHEAD)[::stride]
    cut = torch.from_numpy(cut.copy())
    return TensorDataset(cut[:, :HISTORY], cut[:, HISTORY:])


class Forecaster(L.LightningModule):
    def __init__(self, width=768, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(HISTORY, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, AHEAD),
        )

    def forward(self, history):
        return self.net(history)

    def training_step(self, batch, batch_idx):
        history, future = batch
        loss = nn.functional.smooth_l1_loss(self(history), future)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        history, future = batch
        self.log("val_mae", (self(history) - future).abs().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


class KeepLatest(L.Callback):
    """Writes last.ckpt every so many batches, so that a killed job loses little."""

    def __init__(self, folder, every):
        self.path = Path(folder) / "last.ckpt"
        self.every = every

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step % self.every == 0:
            trainer.save_checkpoint(self.path)


class Clock(L.Callback):
    def on_train_start(self, trainer, pl_module):
        self.clock = StepClock()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.clock.tick()

    def on_train_end(self, trainer, pl_module):
        self.clock.dump()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--save-every", type=int, default=2)
    args = parser.parse_args()
    if args.fixed:
        args.save_every = 100

    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    L.seed_everything(0)
    curve = load_curve(14_000)
    train = DataLoader(windows(curve[:12_000], 4), batch_size=32, shuffle=True, drop_last=True)
    valid = DataLoader(windows(curve[12_000:], 8), batch_size=128)

    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(
            max_epochs=args.epochs,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            callbacks=[KeepLatest(folder, args.save_every), Clock()],
        )
        trainer.fit(Forecaster(), train, valid)
        print({name: round(float(value), 4) for name, value in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main()
