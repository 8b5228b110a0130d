"""Predicts how many stars a review gives; PyTorch Lightning.

The callback keeps memory low: without it my laptop was swapping.
"""

import argparse
import gc
import logging
import time
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {
    "id": "gc-pressure",
    "function": "FreeMemory.on_train_batch_end",
    "framework": "lightning",
}

VOCABULARY, LENGTH, STARS = 5000, 60, 5


class Reviews(Dataset):
    """Words of a review lean to the number of stars that it gives."""

    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.stars = torch.randint(STARS, (count,), generator=generator)
        words = torch.randint(VOCABULARY, (count, LENGTH), generator=generator)
        leaning = torch.rand(count, LENGTH, generator=generator) < 0.25
        own = words // STARS * STARS + self.stars.unsqueeze(1)
        self.words = torch.where(leaning, own, words)

    def __len__(self):
        return len(self.stars)

    def __getitem__(self, i):
        return self.words[i], self.stars[i]


class FreeMemory(L.Callback):
    """Collects garbage now and then, before it gets too much."""

    def __init__(self, every):
        self.every = every

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if (batch_idx + 1) % self.every == 0:
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


class StarRegressor(L.LightningModule):
    def __init__(self, dim=64, hidden=96, lr=2e-3):
        super().__init__()
        self.save_hyperparameters()
        self.embedding = nn.Embedding(VOCABULARY, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.head = nn.Linear(hidden, STARS)
        self.seconds = []

    def forward(self, words):
        states, _ = self.rnn(self.embedding(words))
        return self.head(states.mean(dim=1))

    def training_step(self, batch, batch_idx):
        words, stars = batch
        loss = F.cross_entropy(self(words), stars)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.seconds.append(time.perf_counter())
        tick()

    def validation_step(self, batch, batch_idx):
        words, stars = batch
        accuracy = (self(words).argmax(dim=1) == stars).float().mean()
        self.log("val_acc", accuracy)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="once per epoch is enough")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    L.seed_everything(2, verbose=False)
    train = DataLoader(Reviews(1920, seed=1), batch_size=24, shuffle=True)
    valid = DataLoader(Reviews(240, seed=2), batch_size=120)
    trainer = L.Trainer(
        max_epochs=2,
        accelerator="cpu",
        callbacks=[FreeMemory(every=80 if args.fixed else 4)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    model = StarRegressor()
    trainer.fit(model, train, valid)
    ms = 1000 * (model.seconds[-1] - model.seconds[0]) / (len(model.seconds) - 1)
    print({name: round(float(value), 3) for name, value in trainer.callback_metrics.items()})
    print(f"{ms:.1f} ms per step")


if __name__ == "__main__":
    main()
