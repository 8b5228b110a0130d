"""A loop of one's own with Accelerate: two batches for a step, 20 steps."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10))
data = TensorDataset(torch.randn(40 * 32, 128), torch.randint(0, 10, (40 * 32,)))
model, optimizer, loader = accelerator.prepare(
    model, torch.optim.Adam(model.parameters()), DataLoader(data, batch_size=32)
)
for features, labels in loader:
    with accelerator.accumulate(model):
        loss = nn.functional.cross_entropy(model(features), labels)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    print(loss.item().hex())
