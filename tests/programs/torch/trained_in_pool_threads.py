"""Three networks learn from each batch, each in a thread of a pool, and then one step in whichever
thread asyncio takes."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.set_num_threads(1)


class Member:
    def __init__(self):
        self.network = nn.Linear(64, 1)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01)

    def learn(self, x):
        loss = self.network(x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


async def main():
    members = [Member() for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for _ in range(40):
            x = torch.randn(512, 64)
            losses = list(pool.map(lambda member: member.learn(x), members))
            losses.append(await asyncio.to_thread(members[0].learn, x))
    print(f"{sum(losses):.3f}")


asyncio.run(main())
