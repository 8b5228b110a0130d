"""One epoch from a generator, after one from a dataset of Keras' own kind."""

from parts import BATCH, Losses, arrays, classifier, keras, seeded, tell

Base = getattr(keras.utils, "PyDataset", None) or keras.utils.Sequence


class Batches(Base):
    batch_size = BATCH

    def __len__(self):
        return 10

    def __getitem__(self, index):
        images, labels = arrays(BATCH)
        return images + index, labels


def batches():
    while True:
        yield arrays(BATCH)


def main():
    seeded()
    kept = Losses()
    model = classifier()
    model.fit(Batches(), epochs=1, verbose=0, callbacks=[kept], shuffle=False)
    model.fit(batches(), epochs=1, steps_per_epoch=12, verbose=0, callbacks=[kept])
    tell(kept.losses)


if __name__ == "__main__":
    main()
