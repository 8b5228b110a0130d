"""Four batches for a step; the last one of an epoch has what is left: 26 batches are 7 steps."""

from parts import Classifier, loader, trainer

model = Classifier()
trainer(max_epochs=2, accumulate_grad_batches=4).fit(model, loader(26))
model.print_losses()
