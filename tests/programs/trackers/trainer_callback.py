"""Hugging Face's Trainer, which reports to W&B and TensorBoard; our callback records the training."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "transformers"))

from parts import BATCH, Classifier, Numbers
from transformers import Trainer, TrainingArguments

import stepscope.transformers

os.environ["TENSORBOARD_LOGGING_DIR"] = "logs"
trainer = Trainer(
    Classifier(),
    TrainingArguments(
        "trained",
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        logging_steps=1,
        save_strategy="no",
        report_to=["wandb", "tensorboard"],
        use_cpu=True,
        disable_tqdm=True,
    ),
    train_dataset=Numbers(40 * BATCH),
    callbacks=[stepscope.transformers.Callback("recorded", log=True)],
)
trainer.train()
