"""Train a classifier of digits with Lightning; Hydra's configuration chooses the profiler.

One callback is slow. Find it:  python examples/callbacks_lightning/train.py profiler=simple
"""

import time
from pathlib import Path

import hydra
import lightning.pytorch as pl
import numpy as np
import torch
from hydra.utils import instantiate, to_absolute_path
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            nn.Flatten(), nn.Linear(28 * 28, width), nn.ReLU(), nn.Linear(width, 10)
        )

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return nn.functional.cross_entropy(self.net(images), labels)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class Throughput(pl.Callback):
    """The time of a step and the pictures a second, once an epoch."""

    def on_train_epoch_start(self, trainer, module):
        self.began = time.perf_counter()

    def on_train_epoch_end(self, trainer, module):
        step_time = (time.perf_counter() - self.began) / trainer.num_training_batches
        images_per_s = trainer.train_dataloader.batch_size / step_time
        print(f"step_time {1e3 * step_time:.1f} ms  throughput {images_per_s:,.0f} img/s")


class WeightHistogram(pl.Callback):
    """Counts how large the weights are, one by one: that is what is slow here."""

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        counts = [0] * 20
        for weight in module.parameters():
            for value in weight.flatten().tolist():
                counts[min(int(abs(value) * 100), 19)] += 1
        self.counts = counts


def make_loader(path, count, batch):
    with np.load(to_absolute_path(path)) as data:
        images, labels = data["images"][:count], data["labels"][:count]
    tensors = TensorDataset(torch.from_numpy(images) / 255, torch.from_numpy(labels).long())
    return DataLoader(tensors, batch_size=batch, shuffle=True)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(config):
    pl.seed_everything(0, verbose=False)
    trainer = pl.Trainer(
        max_epochs=config.epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[instantiate(each) for each in config.callbacks],
        profiler=instantiate(config.profiler),
    )
    data = config.data or Path(__file__).parent.parent / "data" / "digits.npz"
    trainer.fit(Classifier(config.width), make_loader(str(data), config.count, config.batch))


if __name__ == "__main__":
    main()
