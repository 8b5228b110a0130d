"""An autograd of Python objects: each number's node and its backward closure refer to each other, so
that only the garbage collector can free them."""

import argparse
import gc
import random

from timing import tick

ZOO = {
    "id": "gc-pressure",
    "function": ["Node.__init__", "Node.__add__", "Node.__mul__", "Node.relu", "weighted"],
    "framework": "random",
}


def nothing():
    pass


class Node:
    """A number, what it was made of, and how its gradient goes on to that."""

    def __init__(self, value, made_of=()):
        self.value = value
        self.gradient = 0.0
        self.made_of = made_of
        self.backward = nothing

    def __add__(self, other):
        out = Node(self.value + other.value, (self, other))

        def backward():
            self.gradient += out.gradient
            other.gradient += out.gradient

        out.backward = backward
        return out

    def __mul__(self, other):
        out = Node(self.value * other.value, (self, other))

        def backward():
            self.gradient += other.value * out.gradient
            other.gradient += self.value * out.gradient

        out.backward = backward
        return out

    def relu(self):
        out = Node(max(0.0, self.value), (self,))

        def backward():
            self.gradient += out.gradient * (out.value > 0)

        out.backward = backward
        return out


def in_order(root):
    """All nodes below, each after what it was made of."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((each, False) for each in node.made_of)
    return order


def backward(loss, break_cycles):
    order = in_order(loss)
    loss.gradient = 1.0
    for node in reversed(order):
        node.backward()
    if break_cycles:
        for node in order:
            node.backward, node.made_of = nothing, ()


def weighted(weights, bias, inputs):
    total = bias
    for weight, each in zip(weights, inputs, strict=True):
        total = total + weight * each
    return total


class Network:
    def __init__(self, rng, inputs, hidden):
        self.hidden = [[Node(rng.gauss(0, 0.5)) for _ in range(inputs)] for _ in range(hidden)]
        self.biases = [Node(0.0) for _ in range(hidden)]
        self.out = [Node(rng.gauss(0, 0.3)) for _ in range(hidden)]
        self.bias = Node(0.0)

    def __call__(self, inputs):
        layer = [
            weighted(weights, bias, inputs).relu()
            for weights, bias in zip(self.hidden, self.biases, strict=True)
        ]
        return weighted(self.out, self.bias, layer)

    def parameters(self):
        return [*(each for row in self.hidden for each in row), *self.biases, *self.out, self.bias]


def train(break_cycles, steps=60, batch=48):
    rng = random.Random(0)
    network = Network(rng, inputs=4, hidden=12)
    for step in range(steps):
        loss = Node(0.0)
        for _ in range(batch):
            numbers = [rng.uniform(-1, 1) for _ in range(4)]
            wanted = numbers[0] * numbers[1]
            error = network([Node(each) for each in numbers]) + Node(-wanted)
            loss = loss + error * error
        backward(loss, break_cycles)
        for parameter in network.parameters():
            parameter.value -= 0.05 / batch * parameter.gradient
            parameter.gradient = 0.0
        if step % 20 == 0:
            print(f"step {step} loss {loss.value / batch:.4f}")
        tick()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    is_fixed = parser.parse_args().fixed
    if is_fixed:
        gc.set_threshold(100_000)  # as many as two steps make
    train(break_cycles=is_fixed)
