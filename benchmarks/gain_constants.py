"""The costs that findings calculate with, measured on this machine.

`python -m benchmarks.gain_constants` prints them, to see whether the constants in stepscope/advise
(gain/ and rules/eager_overhead.py) still hold. One thread; each figure is the best of some rounds,
or their median if the caches are cold, as they are in a training step. Needs torch.
"""

import statistics
import time
from collections.abc import Callable, Iterator

import torch

ROUNDS = 30
TENSORS = (20, 200)


def best_ns(act: Callable[[], object]) -> float:
    return min(rounds_ns(act))


def cold_ns(act: Callable[[], object]) -> float:
    """After something else has flushed the caches, as the passes of a model do."""
    swept = torch.zeros(16_000_000)
    return statistics.median(rounds_ns(act, before=lambda: swept.add_(1)))


def rounds_ns(
    act: Callable[[], object], before: Callable[[], object] = lambda: None
) -> Iterator[float]:
    act()
    for _ in range(ROUNDS):
        before()
        began = time.perf_counter_ns()
        act()
        yield time.perf_counter_ns() - began


def fused_step() -> Iterator[tuple[str, float, str]]:
    """By tensor and by element: how the time of Adam's step grows with their number."""

    def step_ns(tensors: int, elements: int) -> float:
        parameters = [torch.zeros(elements, requires_grad=True) for _ in range(tensors)]
        for parameter in parameters:
            parameter.grad = torch.ones(elements)
        return cold_ns(torch.optim.Adam(parameters, fused=True).step)

    few, many = (step_ns(count, 10) for count in TENSORS)
    by_tensor = (many - few) / (TENSORS[1] - TENSORS[0])
    yield "gain/fused_step: a fused step, whatever its size", few - TENSORS[0] * by_tensor, "ns"
    yield "gain/fused_step: by tensor", by_tensor, "ns"
    large = step_ns(4, 2_000_000)
    yield "gain/fused_step: by element", large / 8_000_000, "ns"


def launches() -> Iterator[tuple[str, float, str]]:
    """What small tensors, which stay in the cache, take beyond the launch."""
    one, some = torch.zeros(1), torch.zeros(20_000)
    launch = best_ns(lambda: one + one)
    yield "rules/eager_overhead: launching an operator", launch, "ns"
    for name, act in {"add": lambda: some + some, "tanh": lambda: torch.tanh(some)}.items():
        by_element = (best_ns(act) - launch) / 20_000
        yield f"rules/eager_overhead: by element, {name}", by_element, "ns"
    matrix = torch.ones(96, 96)
    flops = 2 * 96**3
    yield (
        "rules/eager_overhead: by floating-point operation",
        (best_ns(lambda: matrix @ matrix) - launch) / flops,
        "ns",
    )
    weight = torch.ones(8, 8, requires_grad=True)

    def both_passes() -> None:
        value = weight
        for _ in range(100):
            value = torch.tanh(value + weight)
        value.sum().backward()  # type: ignore[no-untyped-call]  # torch's own

    # Two operators forward and some three backward for each turn.
    yield "rules/eager_overhead: by operator, with Python", best_ns(both_passes) / 500, "ns"


def precision() -> Iterator[tuple[str, float, str]]:
    def ratio(make: Callable[[torch.dtype], Callable[[], object]]) -> float:
        return best_ns(make(torch.float64)) / best_ns(make(torch.float32))

    def product(kind: torch.dtype) -> Callable[[], object]:
        matrix = torch.full((384, 384), 0.5, dtype=kind)
        return lambda: matrix @ matrix

    def convolution(dimensions: int) -> Callable[[torch.dtype], Callable[[], object]]:
        def make(kind: torch.dtype) -> Callable[[], object]:
            layer = getattr(torch.nn, f"Conv{dimensions}d")(16, 32, 3, dtype=kind)
            size = (4096, 64, 16)[dimensions - 1]
            batch = torch.ones(4, 16, *[size] * dimensions, dtype=kind)
            return lambda: layer(batch)

        return make

    yield "gain/precision: a matrix product in 64 bits", ratio(product), "times as long"
    for dimensions in (1, 2, 3):
        name = f"gain/precision: a convolution of {dimensions} dimensions in 64 bits"
        yield name, ratio(convolution(dimensions)), "times as long"


def hand_over() -> Iterator[tuple[str, float, str]]:
    """A batch of 32 images from a loader's worker that has it ready."""
    data = torch.zeros(2_000, 3, 32, 32)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(data), batch_size=32, num_workers=1
    )
    batches = iter(loader)
    # By then the worker has it ready.
    taken = rounds_ns(lambda: next(batches), before=lambda: time.sleep(0.05))
    yield "gain/whatif: taking a batch from a worker", min(taken), "ns"


def main() -> None:
    torch.set_num_threads(1)
    for measured in (fused_step, launches, precision, hand_over):
        for name, value, unit in measured():
            print(f"{name:<58} {value:>10.3g} {unit}", flush=True)


if __name__ == "__main__":
    main()
