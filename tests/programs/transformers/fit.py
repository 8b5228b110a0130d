"""Three batches for a step, two epochs, with evaluation and saving: 27 batches are 9 steps each."""

import tempfile

from parts import BATCH, Classifier, Numbers
from transformers import Trainer, TrainerCallback, TrainingArguments


class Losses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(float(logs["loss"]).hex(), float(logs["grad_norm"]).hex())


with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer(
        Classifier(),
        TrainingArguments(
            folder,
            num_train_epochs=2,
            per_device_train_batch_size=BATCH,
            gradient_accumulation_steps=3,
            logging_steps=1,
            eval_strategy="steps",
            eval_steps=6,
            save_strategy="steps",
            save_steps=9,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            seed=0,
        ),
        train_dataset=Numbers(27 * BATCH),
        eval_dataset=Numbers(4 * BATCH),
        callbacks=[Losses],
    )
    trainer.train()
    print("eval", float(trainer.evaluate()["eval_loss"]).hex())
    print([type(callback).__name__ for callback in trainer.callback_handler.callbacks])
