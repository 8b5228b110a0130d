"""Makes optimizers with the fix installed, and prints what it says of each and what it has set."""

import torch

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.trial import fixes


class Own(torch.optim.SGD):
    def step(self, closure=None):
        return None


class Inherited(torch.optim.RMSprop):
    pass


class Script:
    patches = Patches()

    def when_loaded(self, module, action):
        action(torch)

    def applied(self, what):
        self.said = f"applied: {what}"

    def refuse(self, reason):
        self.said = f"refused: {reason}"


script = Script()
fixes.named("fused-optimizer").install(script, {})
optim, weights = torch.optim, [torch.zeros(3, requires_grad=True)]
groups = [{"params": iter(weights)}, {"params": torch.zeros(2, requires_grad=True)}]
for made in (
    lambda: optim.LBFGS(weights),
    lambda: Own(weights),
    lambda: optim.AdamW(weights, fused=True),
    lambda: optim.AdamW(weights, foreach=False),
    lambda: optim.Adagrad(weights, 0.1, 0, 0, 0, 1e-9, True),
    lambda: Inherited(weights),
    lambda: optim.Adam(groups),
    lambda: optim.SGD([torch.zeros(3, requires_grad=True, device="meta")]),
):
    optimizer = made()
    if weights[0].grad is None:
        weights[0].sum().backward()
    optimizer.step(lambda: weights[0].sum())
    flags = [bool(group.get("fused")) for group in optimizer.param_groups]
    print(script.said, flags[-1])
script.patches.undo()
print(optim.Adam(weights).defaults["fused"])
