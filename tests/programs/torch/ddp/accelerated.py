"""Accelerate prepares what its launcher, or torchrun, has started."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from world import model


def main() -> None:
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    network = model()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(torch.rand(40 * 32, 64)), batch_size=32)
    network, optimizer, loader = accelerator.prepare(network, optimizer, loader)
    for (batch,) in loader:
        optimizer.zero_grad()
        loss = network(batch).square().mean()
        accelerator.backward(loss)
        optimizer.step()
    accelerator.print(loss.item().hex())
    accelerator.end_training()


if __name__ == "__main__":
    main()
