"""The script only starts a process that trains, and waits for it."""

import multiprocessing


def train():
    import torch
    from torch import nn

    torch.set_num_threads(1)
    model = nn.Linear(64, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(50):
        loss = model(torch.randn(512, 64)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=train)
    child.start()
    child.join()
