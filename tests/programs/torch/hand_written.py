"""No module, no optimizer: only tensors."""

import torch
from parts import BATCH, seeded

seeded()
w1 = (torch.randn(256, 4096) * 0.05).requires_grad_()
w2 = (torch.randn(4096, 10) * 0.05).requires_grad_()
for iteration in range(25):
    images, labels = torch.randn(BATCH, 256), torch.randint(0, 10, (BATCH,))
    scores = torch.relu(images @ w1) @ w2
    loss = torch.nn.functional.cross_entropy(scores, labels)
    loss.backward()
    with torch.no_grad():
        for weight in (w1, w2):
            weight -= 0.1 * weight.grad
            weight.grad = None
print(loss.item().hex())
