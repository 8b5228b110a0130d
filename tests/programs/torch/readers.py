"""What looks at torch's functions from outside sees what it always sees."""

import copy
import inspect
import pickle

import torch
from torch import nn

print(inspect.signature(nn.Module.__call__), nn.Module.__call__.__qualname__)
print(inspect.signature(torch.save), torch.save.__module__, pickle.loads(pickle.dumps(torch.save)))
print(print, inspect.signature(print))
print(torch.autograd.backward.__name__, torch.optim.Optimizer.zero_grad.__qualname__)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
print(torch.jit.script(model)(torch.ones(1, 4)).shape, torch.jit.trace(model, torch.ones(1, 4)).code)
print(torch.fx.symbolic_trace(model).code)
print(torch.export.export(model, (torch.ones(1, 4),)).graph_module.code)
print(type(copy.deepcopy(model)), pickle.loads(pickle.dumps(model))[0].weight.shape)


@torch.jit.script
def loss(a, b):
    return torch.nn.functional.mse_loss(a, b)


print(loss(torch.ones(2), torch.zeros(2)))
optimizer = torch.optim.Adam(model.parameters())
print(optimizer.step.__func__.__qualname__, torch.optim.lr_scheduler.StepLR(optimizer, 1).last_epoch)
print(torch.func.vmap(lambda row: model(row).sum())(torch.ones(3, 4)).shape)
print(torch.func.grad(lambda x: (x * x).sum())(torch.ones(2)))
