"""Hugging Face's Trainer with a small GPT that notes its loss after every step."""

import argparse
import os
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from timing import tick
from torch.utils.data import Dataset

ZOO = {"id": None, "function": None, "framework": "transformers"}

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()


class Counting(Dataset):
    """Numbers that count up, from different starts and in different strides."""

    def __init__(self, count=8 * 80, length=32):
        starts, strides = torch.arange(count) * 13, 1 + torch.arange(count) % 5
        self.rows = (starts[:, None] + strides[:, None] * torch.arange(length)) % 64

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


class Watch(transformers.TrainerCallback):
    def __init__(self):
        self.losses = []

    def on_step_end(self, args, state, control, **_):
        tick()

    def on_log(self, args, state, control, logs=None, **_):
        if "loss" in logs:
            self.losses.append(float(logs["loss"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    transformers.set_seed(26)
    shape = transformers.GPT2Config(vocab_size=64, n_positions=32, n_embd=64, n_layer=2, n_head=4)
    watch = Watch()
    settings = transformers.TrainingArguments(
        "out",
        num_train_epochs=1,
        per_device_train_batch_size=8,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(
        transformers.GPT2LMHeadModel(shape), settings, train_dataset=Counting(), callbacks=[watch]
    )
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    print(f"loss {watch.losses[0]:.3f} to {watch.losses[-1]:.3f}")


if __name__ == "__main__":
    main()
