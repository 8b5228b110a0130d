"""Every loss that a backward of torch starts from, in loops of several kinds; it prints them all."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
torch.set_num_threads(1)
model, critic = nn.Linear(16, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)


def tell(loss):
    print(loss.detach().sum(dtype=torch.float64).item().hex())


def step(loss):
    tell(loss)
    optimizer.zero_grad()
    loss.backward()
    loss.detach().zero_()  # as an all_reduce for a log would change it
    optimizer.step()


def plainly():
    for _ in range(4):
        step(model(torch.randn(8, 16)).square().mean())


def gan():
    for _ in range(3):
        made = model(torch.randn(8, 16))
        real = F.softplus(critic(made.detach())).mean()
        tell(real)
        of_critic.zero_grad()
        real.backward()
        of_critic.step()
        step(F.softplus(-critic(made)).mean())


def accumulated():
    for number in range(4):
        loss = model(torch.randn(8, 16)).square().mean() / 2
        tell(loss)
        loss.backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()


def in_other_types():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(8, 16)).square().mean()
    step(loss)
    step(model(torch.randn(8, 16)).mean().to(torch.bfloat16))
    step(model(torch.randn(8, 16)).mean().half())
    step(model(torch.randn(8, 16)).mean().double())


def scaled():
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 16)).square().mean()
        tell(loss)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def several_at_once():
    losses = [part.mean() for part in model(torch.randn(8, 16)).split(4)]
    for loss in losses:
        tell(loss)
    torch.autograd.backward(losses)


def from_many_values():
    outputs = model(torch.randn(8, 16))
    tell(outputs)
    outputs.backward(torch.ones_like(outputs))


def computed_again():
    """The checkpoint calls backward inside of backward."""
    inputs = torch.randn(8, 16, requires_grad=True)
    step(checkpoint(model, inputs, use_reentrant=True).square().mean())


def gradient_in_the_loss():
    inputs = torch.randn(8, 16, requires_grad=True)
    (slope,) = torch.autograd.grad(model(inputs).sum(), inputs, create_graph=True)
    step(slope.square().mean())


class Marked(torch.Tensor):
    """A tensor with a type of its own, as fastai has them."""


def compiled():
    @torch.compile(backend="aot_eager")
    def loss_of(images):
        return model(images).square().mean()

    for _ in range(3):
        step(loss_of(torch.randn(8, 16)))


plainly()
gan()
accumulated()
in_other_types()
scaled()
several_at_once()
from_many_values()
computed_again()
gradient_in_the_loss()
step(model(torch.randn(8, 16)).square().mean().as_subclass(Marked))
compiled()
