"""Keras' `fit` with runs open in W&B and TensorBoard; our callback records some batches."""

import keras
import numpy as np
import torch
import wandb
from torch.utils.tensorboard import SummaryWriter

import stepscope.keras

torch.set_num_threads(1)


class Log(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        wandb.log({"loss": logs["loss"]})
        writer.add_scalar("loss", logs["loss"], batch)


wandb.init(project="digits")
writer = SummaryWriter("logs")
rng = np.random.default_rng(0)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="sgd", loss=loss)
callbacks = [Log(), stepscope.keras.Callback("recorded", profile_batch=(2, 40), log=True)]
data = rng.normal(size=(60 * 16, 128)).astype(np.float32), rng.integers(0, 10, size=60 * 16)
model.fit(*data, batch_size=16, epochs=1, verbose=0, callbacks=callbacks)
writer.close()
wandb.finish()
