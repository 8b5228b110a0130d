"""Lightning drives a small model. Prints its losses."""

import sys

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, _index):
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        print(repr(loss.item()))
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


compile_with = torch.compile
torch.compile = lambda model, dynamic=None, options=None: compile_with(
    model, dynamic=dynamic, backend="eager"
)
lightning.seed_everything(0, verbose=False)
x = torch.randn(64, 6)
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    precision="bf16-mixed" if "bf16" in sys.argv else "32-true",
)
trainer.fit(Model(), DataLoader(TensorDataset(x, x.sum(dim=1, keepdim=True)), batch_size=16))
