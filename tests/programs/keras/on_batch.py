"""train_on_batch in a loop of the script's own, with a look at other data after each epoch."""

from parts import BATCH, arrays, classifier, seeded, tell


def main():
    seeded()
    model = classifier()
    images, labels = arrays(15 * BATCH)
    losses = []
    for _ in range(2):
        for begin in range(0, len(images), BATCH):
            batch = slice(begin, begin + BATCH)
            losses.append(model.train_on_batch(images[batch], labels[batch]))
        losses.append(model.test_on_batch(images[:BATCH], labels[:BATCH]))
    tell(losses)


if __name__ == "__main__":
    main()
