import torch


class Failing(torch.optim.SGD):
    def step(self, closure=None):
        raise ValueError("no step today")


weight = torch.nn.Parameter(torch.randn(3))
optimizer = Failing([weight], lr=0.1)
for _ in range(3):
    try:
        weight.sum().backward()
        optimizer.step()
    except ValueError as error:
        print(error, error.__traceback__.tb_next is not None)
optimizer.step()
