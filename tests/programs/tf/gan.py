"""An eager GAN: two networks, two tapes, two optimizers, one step."""

import keras
import tensorflow as tf
from parts import BATCH, dataset, seeded, tell


def network(inputs, outputs):
    layers = [keras.layers.Input((inputs,)), keras.layers.Dense(128, activation="relu")]
    return keras.Sequential([*layers, keras.layers.Dense(outputs)])


def main():
    seeded()
    generator, discriminator = network(16, 64), network(64, 1)
    optimizers = keras.optimizers.Adam(), keras.optimizers.Adam()
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
    losses = []
    for _ in range(2):
        for images, _ in dataset(15):
            noise = tf.random.normal((BATCH, 16))
            with tf.GradientTape() as of_generator, tf.GradientTape() as of_discriminator:
                made = generator(noise, training=True)
                real, fake = discriminator(images, training=True), discriminator(made, training=True)
                fooled = cross_entropy(tf.ones_like(fake), fake)
                told = cross_entropy(tf.ones_like(real), real) + cross_entropy(tf.zeros_like(fake), fake)
            for network_, tape, loss, optimizer in zip(
                (generator, discriminator), (of_generator, of_discriminator), (fooled, told), optimizers
            ):
                gradients = tape.gradient(loss, network_.trainable_variables)
                optimizer.apply_gradients(zip(gradients, network_.trainable_variables))
            losses += [fooled, told]
    tell(losses)


if __name__ == "__main__":
    main()
