"""A Lightning callback measures the similarity of all pairs of weight rows after every batch."""

import argparse
import logging
import warnings

import lightning as L
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {
    "id": "host-code",
    "function": "Redundancy.on_train_batch_end",
    "framework": "lightning",
}

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Redundancy(L.Callback):
    """How alike are the neurons of a layer?"""

    def __init__(self, every):
        self.every = every
        self.found = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if (trainer.global_step % self.every) == 0:
            rows = module.body[0].weight.detach().double().numpy()
            rows = rows / ((rows**2).sum(axis=1, keepdims=True)) ** 0.5
            similar = abs(rows @ rows.T)
            worst = sorted(similar.ravel().tolist(), reverse=True)
            self.found.append(sum(worst[len(rows) : len(rows) + 100]) / 100)
        tick()


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1))

    def training_step(self, batch, _):
        x, y = batch
        return nn.functional.mse_loss(self.body(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    L.seed_everything(0, verbose=False)
    x = torch.randn(30_720, 128)
    y = torch.tanh(x[:, :4].sum(dim=1, keepdim=True))
    watch = Redundancy(every=100 if arguments.fixed else 1)
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[watch],
    )
    model = Regression()
    trainer.fit(model, DataLoader(TensorDataset(x, y), batch_size=256, shuffle=True))
    with torch.no_grad():
        print(f"loss {nn.functional.mse_loss(model.body(x), y):.4f} alike {watch.found[-1]:.3f}")


if __name__ == "__main__":
    main()
