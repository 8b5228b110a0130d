"""The costs that findings calculate with, measured on this machine.

`python -m benchmarks.gain_constants` prints each beside the constant that stands for it, to see
whether it still holds. One thread; each figure is the best of some rounds, or their median if the
caches are cold, as they are in a training step. Needs torch.
"""

import dataclasses
import functools
import importlib
import importlib.util
import os
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from stepscope.advise.gain.fused_step import TOGETHER

ROUNDS = 30
TENSORS = (20, 200)
IMAGES = 32
STARTED = 4  # workers
PAGE = 4096


@dataclasses.dataclass(frozen=True)
class Measured:
    """`constant`: the module below stepscope, the name in it, and in a table the key."""

    constant: str
    what: str
    value: float
    unit: str

    @property
    def assumed(self) -> float:
        module, name = self.constant.split(":")
        name, _, key = name.partition(".")
        found = getattr(importlib.import_module(f"stepscope.{module}"), name)
        return float(found[key] if key else found)


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


def fused_step() -> Iterator[Measured]:
    """By tensor and by element: how the time of Adam's step grows with their number."""

    def step_ns(tensors: int, elements: int) -> float:
        parameters = [torch.zeros(elements, requires_grad=True) for _ in range(tensors)]
        for parameter in parameters:
            parameter.grad = torch.ones(elements)
        return cold_ns(torch.optim.Adam(parameters, fused=True).step)

    few, many = (step_ns(count, 10) for count in TENSORS)
    by_tensor = (many - few) / (TENSORS[1] - TENSORS[0])
    module = "advise.gain.fused_step"
    always = few - TENSORS[0] * by_tensor
    yield Measured(f"{module}:_OVERHEAD_NS", "a fused step, whatever its size", always, "ns")
    yield Measured(f"{module}:_BY_TENSOR_NS", "a fused step, by tensor", by_tensor, "ns")
    large = step_ns(4, 2_000_000) / 8_000_000
    yield Measured(f"{module}:_BY_ELEMENT_NS", "a fused step, by element", large, "ns")


def lists_of_tensors() -> Iterator[Measured]:
    """What an optimizer's step takes with lists, of what it takes in a loop."""
    names = (*TOGETHER, "Adam")
    for name in names:
        table = f"TOGETHER.{name}" if name in TOGETHER else "_OTHERS_TOGETHER"
        both = [_step_ns(name, foreach=each) for each in (True, False)]
        what = f"{name} over lists, of the loop"
        yield Measured(f"advise.gain.fused_step:{table}", what, both[0] / both[1], "")


def _step_ns(name: str, *, foreach: bool, tensors: int = 120, elements: int = 1_000) -> float:
    parameters = [torch.ones(elements, requires_grad=True) for _ in range(tensors)]
    for parameter in parameters:
        parameter.grad = torch.ones(elements)
    return best_ns(getattr(torch.optim, name)(parameters, foreach=foreach).step)


def launches() -> Iterator[Measured]:
    """What small tensors, which stay in the cache, take beyond the launch."""
    one = torch.zeros(1)
    launch = best_ns(lambda: one + one)
    module = "advise.evidence.computing"
    yield Measured(f"{module}:LAUNCH_NS", "launching an operator, alone", launch, "ns")
    image, filters = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3)
    convolution = best_ns(lambda: torch.conv2d(image, filters)) / launch
    yield Measured(f"{module}:MOST_LAUNCHES", "launching a convolution, of that", convolution, "")
    yield from arithmetic()
    weight = torch.ones(8, 8, requires_grad=True)

    def both_passes() -> None:
        value = weight
        for _ in range(100):
            value = torch.tanh(value + weight)
        value.sum().backward()  # type: ignore[no-untyped-call]  # torch's own

    # Two operators forward and some three backward for each turn.
    by_operator = best_ns(both_passes) / 500
    name = "analyze.operators.passes_share:MOST_BY_OPERATOR_NS"
    yield Measured(name, "an operator with Python, alone", by_operator, "ns")


def arithmetic() -> Iterator[Measured]:
    """By element and by floating-point operation."""
    few, many = torch.rand(4, 16) + 0.1, torch.rand(128, 64) + 0.1
    kinds: dict[str, tuple[str, Callable[[torch.Tensor], object]]] = {
        "add": ("BY_ELEMENT_NS", lambda values: values + values),
        "sum": ("BY_ELEMENT_NS", torch.sum),
        "log": ("BY_LOGARITHM_NS", torch.log),
        "softmax": ("BY_LOGARITHM_NS", lambda values: torch.softmax(values, -1)),
        "tanh": ("BY_TANH_NS", torch.tanh),
        "sort": ("BY_RANDOM_NS", torch.sort),
        "normal": ("BY_RANDOM_NS", torch.randn_like),
    }
    module = "advise.evidence.arithmetic"
    for name, (constant, act) in kinds.items():
        small, large = (best_ns(functools.partial(act, values)) for values in (few, many))
        by_element = (large - small) / (many.numel() - few.numel())
        yield Measured(f"{module}:{constant}", f"an element, {name}", by_element, "ns")
    small, large = (
        best_ns(functools.partial(torch.mm, matrix, matrix))
        for matrix in (torch.ones(2, 2), torch.ones(96, 96))
    )
    by_flop = (large - small) / (2 * 96**3)
    yield Measured(f"{module}:BY_FLOP_NS", "a floating-point operation", by_flop, "ns")


def compiled_calls() -> Iterator[Measured]:
    """Both passes of a compiled function that hardly computes, beyond those of its operators."""
    weight = torch.ones(8, 8, requires_grad=True)

    def once(value: torch.Tensor) -> torch.Tensor:
        return torch.tanh(value * weight).sum()

    def both_passes_ns(function: Callable[[torch.Tensor], torch.Tensor]) -> float:
        return best_ns(lambda: function(torch.ones(8, 8)).backward())  # type: ignore[no-untyped-call]  # torch's own

    beyond = both_passes_ns(torch.compile(once)) - both_passes_ns(once)
    name = "advise.gain.compiled:BY_CALL_NS"
    yield Measured(name, "calling compiled code, both passes", beyond, "ns")


def graphs() -> Iterator[Measured]:
    """A training step of TensorFlow in one graph, by the eager operators that it would be."""
    if importlib.util.find_spec("tensorflow") is None:
        return
    tensorflow: Any = importlib.import_module("tensorflow")
    few, many = (_trained_ns(tensorflow, layers) for layers in (2, 40))
    # A product and a function, their gradients (4), and 9 operators of the update.
    by_node = (many - few) / (38 * 15)
    name = "advise.gain.compiled:BY_NODE_NS"
    yield Measured(name, "an operator of TensorFlow, in a graph", by_node, "ns")


def _trained_ns(tensorflow: Any, layers: int) -> float:
    weights = [tensorflow.Variable(tensorflow.ones((16, 16)) / 16) for _ in range(layers)]
    moments = [tensorflow.Variable(tensorflow.zeros((16, 16))) for _ in range(layers)]

    @tensorflow.function  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def step(value: Any) -> Any:
        with tensorflow.GradientTape() as tape:
            for weight in weights:
                value = tensorflow.tanh(value @ weight)
            loss = tensorflow.reduce_mean(value * value)
        gradients = tape.gradient(loss, weights)
        for weight, moment, gradient in zip(weights, moments, gradients, strict=True):
            moment.assign_add(0.1 * (gradient - moment))
            weight.assign_sub(0.01 * moment / (tensorflow.sqrt(moment * moment) + 1e-7))
        return loss

    batch = tensorflow.ones((8, 16))
    return best_ns(lambda: float(step(batch)))


def arrays() -> Iterator[Measured]:
    """NumPy's operations: on a small array, and by element of a large one."""
    small, large = np.ones(16), np.ones(1_000_000)
    places = np.random.default_rng(0).permutation(len(large))
    module = "advise.gain.vectorised"
    calls: dict[str, Callable[[], object]] = {
        "add": lambda: small + small,
        "sum": small.sum,
        "mean": small.mean,
    }
    for name, act in calls.items():
        yield Measured(f"{module}:BY_CALL_NS", f"16 elements, {name}", best_ns(act), "ns")
    add, take = best_ns(lambda: large + large), cold_ns(lambda: large[places])
    name = f"{module}:LEAST_BY_ELEMENT_NS"
    yield Measured(name, "an element of many, add", add / len(large), "ns")
    name = f"{module}:MOST_BY_ELEMENT_NS"
    yield Measured(name, "an element of many, look-up, cold", take / len(large), "ns")


def precision() -> Iterator[Measured]:
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

    products = ratio(product)
    for dimensions in (1, 2, 3):
        yield Measured(
            "advise.gain.precision:_CONVOLUTIONS",
            f"64 bits: {dimensions}-D convolutions, beyond products",
            ratio(convolution(dimensions)) / products,
            "",
        )


class Images(torch.utils.data.Dataset):  # type: ignore[type-arg]  # generic only in the stubs
    """Tensors, or the same numbers as Python objects."""

    def __init__(self, *, as_tensors: bool) -> None:
        self.image = torch.zeros(3, 32, 32)
        self.as_tensors = as_tensors

    def __len__(self) -> int:
        return 2_000

    def __getitem__(self, index: int) -> object:
        return self.image if self.as_tensors else self.image.tolist()


def hand_over() -> Iterator[Measured]:
    """A batch from a loader's worker that has it ready."""

    def taken_ns(*, as_tensors: bool) -> float:
        collate = None if as_tensors else list
        loader = torch.utils.data.DataLoader(
            Images(as_tensors=as_tensors), batch_size=IMAGES, num_workers=1, collate_fn=collate
        )
        batches = iter(loader)
        # By then the worker has it ready.
        return min(rounds_ns(lambda: next(batches), before=lambda: time.sleep(0.05)))

    module, what = "analyze.input.ready_batches", f"taking {IMAGES} images from a worker"
    tensors, objects = taken_ns(as_tensors=True), taken_ns(as_tensors=False)
    yield Measured(f"{module}:HAND_OVER_NS", f"{what}: tensors", tensors, "ns")
    yield Measured(f"{module}:_MOST_FOR_TENSORS_NS", f"{what}: objects", objects, "ns")


def starting() -> Iterator[Measured]:
    """An epoch of two batches by as many workers, beyond one by fewer of them."""

    def epoch_ns(workers: int) -> float:
        images = torch.utils.data.Subset(Images(as_tensors=True), range(2 * IMAGES))
        loader = torch.utils.data.DataLoader(images, batch_size=IMAGES, num_workers=workers)
        return statistics.median(rounds_ns(lambda: list(loader)))

    by_worker = (epoch_ns(STARTED) - epoch_ns(1)) / (STARTED - 1)
    name = "advise.gain.workers:START_NS"
    yield Measured(name, "starting and ending a worker", by_worker, "ns")


def freeing() -> Iterator[Measured]:
    """What was read: making it and freeing it, relative to making it."""
    small = pickle.dumps([{"id": number, "name": str(number)} for number in range(100_000)])
    large = pickle.dumps(np.ones(4_000_000))

    def ratio(written: bytes) -> float:
        def spent_ns(*, frees: bool) -> float:
            kept: list[object] = []

            def act() -> None:
                kept.append(pickle.loads(written))
                if frees:
                    kept.clear()

            return min(rounds_ns(act, before=lambda: None if frees else kept.clear()))

        return spent_ns(frees=True) / spent_ns(frees=False)

    module = "advise.gain.loading"
    for what, written in {"an array": large, "dicts": small}.items():
        name = f"reading and freeing: {what}"
        yield Measured(f"{module}:_MOST_WITH_FREEING", name, ratio(written), "")


def faults() -> Iterator[Measured]:
    """How many pages that are not in memory the disk reads in 5 ms."""
    with tempfile.NamedTemporaryFile(dir=os.getcwd()) as file:  # /tmp may be in memory
        file.write(os.urandom(64 * 2**20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        places = np.random.default_rng(0).permutation(64 * 2**20 // PAGE)[:200]
        began = time.perf_counter_ns()
        for place in places.tolist():
            os.pread(file.fileno(), PAGE, place * PAGE)
        by_page = (time.perf_counter_ns() - began) / len(places)
    name = "advise.rules.slow_outlier_steps:_FAULTS"
    yield Measured(name, "pages that a disk reads in 5 ms", 5e6 / by_page, "")


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'':<52} {'measured':>10} {'assumed':>10}")
    for measure in (
        fused_step,
        lists_of_tensors,
        launches,
        compiled_calls,
        graphs,
        arrays,
        precision,
        hand_over,
        starting,
        freeing,
        faults,
    ):
        for each in measure():
            figures = f"{each.value:>10.3g} {each.assumed:>10.3g} {each.unit:<2}"
            print(f"{each.what:<52} {figures}  {each.constant}", flush=True)


if __name__ == "__main__":
    main()
