"""Two epochs from arrays, the last batch smaller than the others, with validation and callbacks."""

import os
import tempfile

from parts import BATCH, Losses, arrays, classifier, keras, seeded, tell


def main():
    seeded()
    images, labels = arrays(15 * BATCH + 8)
    kept = Losses()
    with tempfile.TemporaryDirectory() as folder:
        callbacks = [
            kept,
            keras.callbacks.EarlyStopping(patience=5),
            keras.callbacks.ModelCheckpoint(os.path.join(folder, "{epoch}.weights.h5"), save_weights_only=True),
            keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        ]
        classifier().fit(
            images, labels, batch_size=BATCH, epochs=2, verbose=0, callbacks=callbacks,
            validation_data=arrays(3 * BATCH),
        )
    tell(kept.losses)


if __name__ == "__main__":
    main()
