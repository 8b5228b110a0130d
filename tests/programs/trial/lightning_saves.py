"""Lightning's own checkpoints after every batch: prints the loss, and how many were written."""

import logging
import warnings

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Model(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        return self.layer(batch[0]).square().mean()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


lightning.seed_everything(0, verbose=False)
written = []
save = lightning.pytorch.strategies.Strategy.save_checkpoint


def counted(self: object, *args: object, **kwargs: object) -> None:
    written.append(args)
    save(self, *args, **kwargs)


lightning.pytorch.strategies.Strategy.save_checkpoint = counted
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[ModelCheckpoint("saved", every_n_train_steps=1, save_top_k=-1)],
)
model = Model()
trainer.fit(model, DataLoader(TensorDataset(torch.rand(160, 8)), batch_size=8))
print(model.layer.weight.sum().item())
print(len(written), "written")
