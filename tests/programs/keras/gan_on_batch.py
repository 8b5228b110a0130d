"""A GAN by train_on_batch: the discriminator twice and the generator once are one step."""

import numpy
from parts import BATCH, keras, seeded, tell


def network(inputs, outputs):
    layers = [keras.layers.Input((inputs,)), keras.layers.Dense(128, activation="relu")]
    return keras.Sequential([*layers, keras.layers.Dense(outputs)])


def main():
    seeded()
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    generator, discriminator = network(16, 64), network(64, 1)
    discriminator.compile(optimizer=keras.optimizers.Adam(), loss=loss)
    both = keras.Sequential([generator, discriminator])
    both.compile(optimizer=keras.optimizers.Adam(), loss=loss)
    numbers = numpy.random.default_rng(0)
    ones, zeros = numpy.ones((BATCH, 1)), numpy.zeros((BATCH, 1))
    losses = []
    for _ in range(25):
        noise = numbers.normal(size=(BATCH, 16)).astype("float32")
        real = numbers.normal(size=(BATCH, 64)).astype("float32")
        losses.append(discriminator.train_on_batch(real, ones))
        losses.append(discriminator.train_on_batch(generator.predict_on_batch(noise), zeros))
        losses.append(both.train_on_batch(noise, ones))
    tell(losses)


if __name__ == "__main__":
    main()
