"""Ten batches of each epoch, and 15 steps in all; the batches come from a plain generator."""

import torch
from parts import BATCH, Classifier, trainer


class Batches:
    def __iter__(self):
        random = torch.Generator().manual_seed(1)
        while True:
            yield torch.randn(BATCH, 256, generator=random), torch.randint(0, 10, (BATCH,), generator=random)


model = Classifier()
trainer(max_epochs=5, max_steps=15, limit_train_batches=10).fit(model, Batches())
model.print_losses()
