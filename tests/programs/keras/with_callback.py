"""A training that records some of its batches itself. The folder for the logs."""

import sys
import warnings

from parts import BATCH, Losses, arrays, classifier, seeded, tell

import stepscope.keras

folder = sys.argv[1]
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    stepscope.keras.Callback(folder, profile_batch=(1, 5))
    print(*(warning.message for warning in told), sep="\n")
for wrong in ((5, 2), "x", (1, 2, 3), -1):
    try:
        stepscope.keras.Callback(folder, profile_batch=wrong)
    except stepscope.errors.InputError as error:
        print(error)
seeded()
kept = Losses()
images, labels = arrays(16 * BATCH)
callback = stepscope.keras.Callback(logs_dir=folder, profile_batch=(2, 20), tensorboard=True)
classifier().fit(images, labels, batch_size=BATCH, epochs=2, verbose=0, callbacks=[kept, callback])
tell(kept.losses)
