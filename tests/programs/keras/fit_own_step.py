"""A model with a train_step of its own, operation by operation."""

import tensorflow as tf
from parts import BATCH, Losses, arrays, keras, seeded, tell


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(128, activation="relu")
        self.last = keras.layers.Dense(10)

    def call(self, images):
        return self.last(self.hidden(images))

    def train_step(self, data):
        images, labels = data
        with tf.GradientTape() as tape:
            logits = self(images, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


def main():
    seeded()
    kept = Losses()
    images, labels = arrays(13 * BATCH)
    model = Own()
    model.compile(optimizer=keras.optimizers.Adam(), run_eagerly=True)
    model.fit(images, labels, batch_size=BATCH, epochs=2, verbose=0, callbacks=[kept])
    tell(kept.losses)


if __name__ == "__main__":
    main()
