"""Two optimizers by hand, as a GAN has them: the second steps in every third batch only."""

import torch
from parts import Classifier, loader, trainer


class ByHand(Classifier):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        loss = self.loss(batch)
        first.zero_grad()
        self.manual_backward(loss)
        first.step()
        if batch_idx % 3 == 2:
            second.zero_grad()
            self.manual_backward(self.loss(batch))
            second.step()
        self.losses.append(loss.detach())

    def configure_optimizers(self):
        return torch.optim.Adam(self.net[0].parameters()), torch.optim.SGD(self.net[2].parameters(), lr=0.01)


model = ByHand()
trainer(max_epochs=2).fit(model, loader(15))
model.print_losses()
