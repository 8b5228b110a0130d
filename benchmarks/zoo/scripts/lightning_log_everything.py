"""Lightning logs the norm of every weight and gradient in every step, flushed at once."""

import argparse
import logging
import warnings

import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {"id": "logging-stall", "function": "Deep.on_before_optimizer_step", "framework": "lightning"}

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Deep(L.LightningModule):
    def __init__(self, log_norms):
        super().__init__()
        self.log_norms = log_norms
        layers = [layer for _ in range(10) for layer in (nn.Linear(96, 96), nn.Tanh())]
        self.net = nn.Sequential(*layers, nn.Linear(96, 1))

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss, prog_bar=False)
        return loss

    def on_before_optimizer_step(self, optimizer):
        if self.log_norms:
            for name, parameter in self.named_parameters():
                self.log(f"weight/{name}", parameter.norm())
                self.log(f"gradient/{name}", parameter.grad.norm())

    def on_train_batch_end(self, outputs, batch, batch_idx):
        tick()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    fixed = parser.parse_args().fixed
    L.seed_everything(0, verbose=False)
    x = torch.randn(15_360, 96)
    y = torch.sin(x[:, :2].sum(dim=1, keepdim=True))
    every = 50 if fixed else 1
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="cpu",
        enable_checkpointing=False,
        log_every_n_steps=every,
        logger=CSVLogger("logs", flush_logs_every_n_steps=every),
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Deep(not fixed), DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True))
    print(f"loss {trainer.callback_metrics['loss']:.4f}")


if __name__ == "__main__":
    main()
