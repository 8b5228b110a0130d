"""A training in mixed precision with a scaled loss."""

from parts import BATCH, Losses, arrays, classifier, keras, seeded, tell


def main():
    seeded()
    kept = Losses()
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        images, labels = arrays(12 * BATCH)
        classifier().fit(images, labels, batch_size=BATCH, epochs=2, verbose=0, callbacks=[kept])
    finally:
        keras.mixed_precision.set_global_policy("float32")
    tell(kept.losses)


if __name__ == "__main__":
    main()
