"""The eighth batch is a bad one, and a library says so."""

from borrowed import refuse
from parts import Classifier, loader, trainer


class Failing(Classifier):
    def training_step(self, batch, batch_idx):
        if batch_idx == 7:
            refuse("a bad batch")
        return super().training_step(batch, batch_idx)


trainer(max_epochs=1).fit(Failing(), loader(20))
