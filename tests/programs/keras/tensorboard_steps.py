"""`fit` with Keras' TensorBoard callback, which profiles some batches; prints when those began."""

import sys
import time

import numpy as np

flavour, pause_s, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
keras = __import__(flavour)
FIRST, LAST = 5, 15
begun_s = []


class Pause(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        begun_s.append(time.perf_counter())

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(pause_s)


inputs = np.random.rand(640, 64).astype("float32")
labels = np.random.randint(0, 10, 640)
model = keras.Sequential(
    [keras.layers.Dense(256, activation="relu"), keras.layers.Dense(10, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
board = keras.callbacks.TensorBoard(folder, profile_batch=(FIRST, LAST))
model.fit(inputs, labels, batch_size=32, epochs=1, verbose=0, callbacks=[Pause(), board])
wall_ms = 1e3 * np.diff(begun_s)[FIRST - 1 : LAST - 1]
print(wall_ms.mean())
