"""Lightning with loggers for W&B and TensorBoard; our callback records the training."""

import lightning.pytorch as pl
import torch
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger
from torch import nn

import stepscope.lightning

torch.set_num_threads(1)


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))

    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


numbers = torch.randn(960, 128), torch.randint(0, 10, (960,))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*numbers), batch_size=16)
trainer = pl.Trainer(
    max_epochs=1,
    accelerator="cpu",
    log_every_n_steps=1,
    logger=[WandbLogger(project="digits", offline=True), TensorBoardLogger(".", "logs", "")],
    callbacks=[stepscope.lightning.Callback("recorded", log=True)],
    enable_progress_bar=False,
    enable_model_summary=False,
    enable_checkpointing=False,
)
trainer.fit(Model(), loader)
