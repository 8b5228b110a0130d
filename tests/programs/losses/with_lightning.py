"""Every loss of Lightning's loop: automatic with accumulation, and by hand; it prints them all."""

import logging
import warnings

import lightning.pytorch as lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Automatic(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(16, 4)

    def training_step(self, batch, batch_idx):
        loss = self.net(batch[0]).square().mean()
        print((loss / 2).item().hex())  # two batches make a step
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class ByHand(Automatic):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        for _ in range(2):
            loss = self.net(batch[0]).square().mean()
            print(loss.item().hex())
            self.optimizers().zero_grad()
            self.manual_backward(loss)
            self.optimizers().step()


def fit(model, **options):
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    loader = DataLoader(TensorDataset(torch.randn(48, 16)), batch_size=8)
    lightning.Trainer(accelerator="cpu", max_epochs=1, **quiet, **options).fit(model, loader)


fit(Automatic(), accumulate_grad_batches=2)
fit(ByHand())
