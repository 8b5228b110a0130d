"""A Lightning module whose data set computes a spectrogram for every sample it hands out."""

import argparse
import logging
import warnings

import lightning as L
import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {
    "id": "input-bound",
    "function": ["spectrogram", "Tones.__getitem__"],
    "framework": "lightning",
}

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


def spectrogram(wave, size=256, hop=32):
    starts = np.arange(0, len(wave) - size, hop)
    frames = wave[starts[:, None] + np.arange(size)] * np.hanning(size)
    return np.log1p(np.abs(np.fft.rfft(frames))).astype(np.float32)


class Tones(Dataset):
    def __init__(self, count, keep):
        rng = np.random.default_rng(0)
        self.labels = rng.integers(0, 4, count)
        pitch = (self.labels + 2) * 0.1 + rng.normal(0, 0.01, count)
        self.waves = np.sin(np.outer(pitch, np.arange(4096))) + rng.normal(0, 1, (count, 4096))
        self.kept = None
        if keep:
            self.kept = [torch.from_numpy(spectrogram(wave)) for wave in self.waves]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        if self.kept is not None:
            return self.kept[index], self.labels[index]
        return torch.from_numpy(spectrogram(self.waves[index])), self.labels[index]


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(129, 64), nn.ReLU())
        self.head = nn.Linear(64, 4)

    def training_step(self, batch, _):
        spectra, labels = batch
        loss = nn.functional.cross_entropy(self.head(self.net(spectra).mean(dim=1)), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    L.seed_everything(0, verbose=False)
    loader = DataLoader(Tones(960, keep=arguments.fixed), batch_size=32, shuffle=True)
    trainer = L.Trainer(
        max_epochs=3,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Classifier(), loader)
    print(f"loss {trainer.callback_metrics['loss']:.3f}")


if __name__ == "__main__":
    main()
