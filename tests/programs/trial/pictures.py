"""A small network for pictures, with all that fixes may change: dropout, batches of two sizes, an
evaluation, gradients that are zeroed. Prints its losses, all digits."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        # A bias here would have no gradient but rounding, which Adam takes for a direction.
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.out(self.drop(x.mean(dim=(2, 3))))


def evaluate(net, batch):
    net.eval()
    with torch.no_grad():
        result = net(batch)
    net.train()
    return result


def broken(_graph, _inputs):
    raise ValueError("no such instruction")


BACKENDS = {"eager-backend": "eager", "broken-backend": broken}
for word in BACKENDS.keys() & set(sys.argv):  # inductor takes long, and is torch's to test
    compile_with, backend = torch.compile, BACKENDS[word]
    torch.compile = lambda model, dynamic=None, options=None: compile_with(
        model, dynamic=dynamic, backend=backend
    )
torch.manual_seed(0)
pictures, labels = torch.randn(40, 3, 8, 8), torch.randint(0, 4, (40,))
net = Net()
if "compiled" in sys.argv:
    net = torch.compile(net, backend="eager")
loss_of = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(100 if "long" in sys.argv else 3):
    for x, y in DataLoader(TensorDataset(pictures, labels), batch_size=16, shuffle=True):
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))
    scores = evaluate(net, pictures)
    assert not scores.is_inference()
    print(repr(scores.sum().item()))
print("layout", net.conv.weight.is_contiguous(memory_format=torch.channels_last), file=sys.stderr)
print("types", loss.dtype, net.conv.weight.dtype, file=sys.stderr)
