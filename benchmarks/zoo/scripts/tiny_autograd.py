"""A tiny array autograd engine and an MLP trained with it. Only NumPy."""
import argparse

import numpy as np
from sklearn.datasets import load_digits

from timing import tick

ZOO = {"id": None, "function": None, "framework": "numpy"}


class Tensor:
    def __init__(self, data, children=(), requires_grad=False):
        self.data = data
        self.grad = None
        self.requires_grad = requires_grad or any(c.requires_grad for c in children)
        self._children = children
        self._backward = lambda: None

    def _accumulate(self, grad):
        if self.requires_grad:
            self.grad = grad if self.grad is None else self.grad + grad

    def __matmul__(self, other):
        out = Tensor(self.data @ other.data, (self, other))

        def backward():
            if self.requires_grad:
                self._accumulate(out.grad @ other.data.T)
            if other.requires_grad:
                other._accumulate(self.data.T @ out.grad)
        out._backward = backward
        return out

    def __add__(self, bias):
        out = Tensor(self.data + bias.data, (self, bias))

        def backward():
            self._accumulate(out.grad)
            bias._accumulate(out.grad.sum(0))
        out._backward = backward
        return out

    def relu(self):
        out = Tensor(np.maximum(self.data, 0), (self,))

        def backward():
            self._accumulate(out.grad * (out.data > 0))
        out._backward = backward
        return out

    def cross_entropy(self, target):
        shifted = self.data - self.data.max(1, keepdims=True)
        exp = np.exp(shifted)
        prob = exp / exp.sum(1, keepdims=True)
        rows = np.arange(len(target))
        out = Tensor(-np.log(prob[rows, target]).mean(), (self,))

        def backward():
            grad = prob.copy()
            grad[rows, target] -= 1
            grad /= len(target)
            self._accumulate(grad)
        out._backward = backward
        return out

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for child in node._children:
                    visit(child)
                order.append(node)
        visit(self)
        self.grad = np.float32(1)
        for node in reversed(order):
            node._backward()


class Linear:
    def __init__(self, rng, fan_in, fan_out):
        scale = np.sqrt(2 / fan_in)
        self.w = Tensor((rng.standard_normal((fan_in, fan_out)) * scale).astype(np.float32), requires_grad=True)
        self.b = Tensor(np.zeros(fan_out, np.float32), requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b

    def parameters(self):
        return [self.w, self.b]


class MLP:
    def __init__(self, rng, sizes):
        self.layers = [Linear(rng, i, o) for i, o in zip(sizes, sizes[1:])]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def step(self):
        for p in self.params:
            p.grad *= self.lr
            p.data -= p.grad
            p.grad = None


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=54)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--fixed", action="store_true", help="use the faster variant (there is only one here)")
    args = ap.parse_args()
    rng = np.random.default_rng(0)
    digits = load_digits()
    x = (digits.data / 16).astype(np.float32)
    y = digits.target
    order = rng.permutation(len(x))
    train, test = order[:1536], order[1536:]
    model = MLP(rng, [64, 1024, 1024, 10])
    optimizer = SGD(model.parameters(), args.lr)
    for epoch in range(args.epochs):
        losses = []
        for lo in range(0, len(train), args.batch):
            idx = train[lo:lo + args.batch]
            loss = model(Tensor(x[idx])).cross_entropy(y[idx])
            loss.backward()
            optimizer.step()
            losses.append(float(loss.data))
            tick()
        rng.shuffle(train)
        if epoch % 9 == 0:
            print(f"epoch {epoch:2d} loss {np.mean(losses):.4f}")
    accuracy = (model(Tensor(x[test])).data.argmax(1) == y[test]).mean()
    print(f"test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
