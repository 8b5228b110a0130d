"""Ten thousand short steps in PyTorch, 112 operators each, all of them under the script's own
profiler: four traces."""

import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

STEPS = 10_000
TRACES = 4  # as many as a run can take over
BATCH = 32

torch.manual_seed(0)
torch.set_num_threads(1)
inputs = torch.randn(4096, 32)
labels = torch.randint(0, 10, (4096,))
model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
loss_function = nn.CrossEntropyLoss()


def train(steps):
    for number in range(steps):
        start = number * BATCH % 4096
        batch = inputs[start : start + BATCH]
        loss = loss_function(model(batch), labels[start : start + BATCH])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    with tempfile.TemporaryDirectory() as folder:
        for number in range(TRACES):
            shapes_and_memory = {"record_shapes": True, "profile_memory": True}
            with profile(activities=[ProfilerActivity.CPU], **shapes_and_memory) as profiler:
                train(STEPS // TRACES)
            profiler.export_chrome_trace(str(Path(folder) / f"{number}.json"))


if __name__ == "__main__":
    main()
