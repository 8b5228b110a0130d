import torch
from parts import BATCH, classifier, seeded
from torch import nn

seeded()
model = classifier()
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5)
loss_function = nn.CrossEntropyLoss()
images, labels = torch.randn(BATCH, 256), torch.randint(0, 10, (BATCH,))


def closure():
    optimizer.zero_grad()
    loss = loss_function(model(images), labels)
    loss.backward()
    return loss


for _ in range(12):
    loss = optimizer.step(closure)
print(loss.item().hex())
