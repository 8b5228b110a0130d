"""Every loss of Hugging Face's Trainer, two batches a step; it prints them all."""

import tempfile

import torch
from torch import nn
from transformers import PrinterCallback, Trainer, TrainingArguments, set_seed

set_seed(0)
torch.set_num_threads(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(16, 4)

    def forward(self, inputs=None, labels=None):
        loss = nn.functional.cross_entropy(self.net(inputs), labels)
        print((loss / 2).item().hex())
        return {"loss": loss}


data = [{"inputs": torch.randn(16), "labels": torch.tensor(number % 4)} for number in range(48)]
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=1,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(Model(), arguments, train_dataset=data)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
