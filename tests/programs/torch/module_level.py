import torch
from parts import BATCH, classifier, seeded
from torch import nn

seeded()
model = classifier()
optimizer = torch.optim.Adam(model.parameters())
loss_function = nn.CrossEntropyLoss()
step = 0
while step < 26:
    images = torch.randn(BATCH, 256)
    labels = torch.randint(0, 10, (BATCH,))
    loss = loss_function(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
print(loss.item().hex())
