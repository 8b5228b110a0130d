"""Lightning study of representation collapse: follow the effective rank of the features.

A callback keeps, per layer, a window of activations and logs the entropy of their spectrum.
"""

import argparse
import logging
import os
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from step_clock import StepClock

ZOO = {
    "id": "host-code",
    "function": "EffectiveRankAudit.on_train_batch_end",
    "framework": "lightning",
}

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class EffectiveRankAudit(L.Callback):
    def __init__(self, window=256, cheap=False):
        self.window = window
        self.cheap = cheap
        self.history = {}
        self.ranks = {}

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if self.cheap:
            for name, act in module.activations.items():
                self.ranks[name] = float(act.std(dim=0).mean())
            return
        for name, act in module.activations.items():
            rows = self.history.setdefault(name, np.zeros((0, act.shape[1]), dtype=np.float64))
            rows = np.concatenate([rows, act.numpy()])[-self.window :]
            self.history[name] = rows
            centred = rows - rows.mean(axis=0)
            spectrum = np.linalg.eigvalsh(centred.T @ centred / len(rows)).clip(1e-12)
            share = spectrum / spectrum.sum()
            self.ranks[name] = float(np.exp(-(share * np.log(share)).sum()))

    def on_train_epoch_end(self, trainer, module):
        line = "  ".join(f"{name} {rank:.2f}" for name, rank in self.ranks.items())
        print(f"epoch {trainer.current_epoch}: {line}")


class Ticker(L.Callback):
    def on_train_start(self, trainer, module):
        self.clock = StepClock()

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.clock.tick()

    def on_train_end(self, trainer, module):
        self.clock.dump()


class Classifier(L.LightningModule):
    def __init__(self, features=64, width=128, classes=8):
        super().__init__()
        self.layers = nn.ModuleDict(
            {
                "early": nn.Linear(features, width),
                "middle": nn.Linear(width, width),
                "late": nn.Linear(width, width),
            }
        )
        self.head = nn.Linear(width, classes)
        self.activations = {}

    def forward(self, x):
        for name, layer in self.layers.items():
            x = F.gelu(layer(x))
            self.activations[name] = x.detach()
        return self.head(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y, label_smoothing=0.05)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=1e-2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()

    L.seed_everything(5, verbose=False)
    torch.set_num_threads(1)
    x, y = make_classification(20480, n_features=64, n_informative=24, n_classes=8, random_state=5)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
    loader = DataLoader(data, batch_size=256, shuffle=True, drop_last=True)
    trainer = L.Trainer(
        max_epochs=args.epochs,
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[EffectiveRankAudit(cheap=args.fixed), Ticker()],
    )
    trainer.fit(Classifier(), loader)


if __name__ == "__main__":
    main()
