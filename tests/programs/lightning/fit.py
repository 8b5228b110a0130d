"""Two epochs with validation, a logger, a progress bar and checkpoints; then test and predict."""

import tempfile

from parts import Classifier, lightning, loader, trainer

with tempfile.TemporaryDirectory() as folder:
    whole = trainer(
        max_epochs=2,
        logger=lightning.loggers.CSVLogger(folder, flush_logs_every_n_steps=5),
        log_every_n_steps=5,
        default_root_dir=folder,
        enable_checkpointing=True,
        enable_progress_bar=True,
    )
    model = Classifier()
    whole.fit(model, loader(24, shuffle=True), loader(6))
    whole.test(model, loader(5), verbose=False)
    whole.predict(model, loader(5))
    model.print_losses()
