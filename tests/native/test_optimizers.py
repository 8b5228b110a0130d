"""Steps of optimizers: spans, and which listeners are called for them."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from native import recorded
from stepscope.native import _core
from stepscope.store import format as fmt

CATEGORY = fmt.SpanCategory.OPTIMIZER


class Optimizer:
    def __eq__(self, other: object) -> bool:
        raise AssertionError  # the script's own may compare in any way

    __hash__ = None  # type: ignore[assignment]


class Listener:
    """Is called for every step, or for those that `wants` names."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.steps: list[tuple[int, int]] = []
        self.wants: dict[int, int] = {}
        self.alive: list[Any] = []

    def add(self, optimizer: Any) -> tuple[int, int]:
        self.alive.append(optimizer)
        number = self.numbers[id(optimizer)] = len(self.numbers) + 1
        return number, 100 + number

    def step(self, number: int, steps: int) -> int:
        self.steps.append((number, steps))
        return self.wants.get(steps, steps + 1)


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    _core.optimizers_start(CATEGORY, listener.numbers, listener.add, listener.step)
    yield listener
    _core.optimizers_stop()
    _core.on_optimizer(None)


def spans(folder: Path) -> list[tuple[int, int, str]]:
    """Name, number, and how it ended."""
    return [
        (
            span.name,
            span.value0,
            "open" if not span.end else "dropped" if span.end == span.start else "ended",
        )
        for span in recorded.spans(folder)
        if span.category == CATEGORY
    ]


def step(optimizer: Any) -> None:
    _core.optimizer_begins(optimizer, (), {})
    _core.optimizer_ends(optimizer, (), {})


def test_each_step_is_a_span_with_the_optimizers_number(folder: Path, listener: Listener) -> None:
    first, second = Optimizer(), Optimizer()
    for optimizer in (first, second, second, first):
        step(optimizer)
    assert [span[:2] for span in spans(folder)] == [(101, 1), (102, 2), (102, 2), (101, 1)]
    assert listener.steps == [(1, 1), (2, 1), (2, 2), (1, 2)]


@pytest.mark.usefixtures("folder")
def test_steps_that_nobody_waits_for_are_counted_only(listener: Listener) -> None:
    optimizer = Optimizer()
    listener.wants = {2: 5, 6: 1 << 62}
    for _ in range(20):
        step(optimizer)
    assert listener.steps == [(1, 1), (1, 2), (1, 5), (1, 6)]


def test_one_inside_of_another(folder: Path, listener: Listener) -> None:
    outer, inner = Optimizer(), Optimizer()
    _core.optimizer_begins(outer)
    step(inner)
    _core.optimizer_ends(outer)
    assert [span[1:] for span in spans(folder)] == [(1, "ended"), (2, "ended")]
    assert listener.steps == [(2, 1), (1, 1)]


def test_a_step_that_raised_comes_to_nothing(folder: Path, listener: Listener) -> None:
    optimizer, other = Optimizer(), Optimizer()
    _core.optimizer_begins(optimizer)
    _core.optimizer_begins(other)
    step(optimizer)
    assert [span[1:] for span in spans(folder)] == [(1, "dropped"), (2, "open"), (1, "ended")]
    assert listener.steps == [(1, 1)]
    _core.optimizer_ends(other)  # its beginning is no longer known
    assert listener.steps == [(1, 1)]


@pytest.mark.usefixtures("folder")
def test_many_that_never_end(listener: Listener) -> None:
    optimizers = [Optimizer() for _ in range(50)]
    for optimizer in optimizers:
        _core.optimizer_begins(optimizer)
    step(optimizers[0])
    assert listener.steps == [(1, 1)]


def test_somebody_around_it_reports_the_step(folder: Path, listener: Listener) -> None:
    optimizer = Optimizer()
    _core.optimizer_begins(optimizer)
    _core.optimizer_in_charge(optimizer)
    step(optimizer)
    _core.optimizer_in_charge(None)
    _core.optimizer_ends(optimizer)
    assert len(spans(folder)) == 1
    assert listener.steps == [(1, 1)]


@pytest.mark.usefixtures("folder", "listener")
def test_who_listens_gets_the_optimizer() -> None:
    seen = []
    optimizer = Optimizer()
    _core.on_optimizer(lambda each: seen.append(id(each)))
    step(optimizer)
    _core.on_optimizer(None)
    step(optimizer)
    assert seen == [id(optimizer)]


@pytest.mark.usefixtures("folder")
def test_a_listener_may_raise(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording that is limited to a number of steps ends there."""

    def stop(_number: int, _steps: int) -> int:
        raise KeyboardInterrupt

    _core.optimizers_start(CATEGORY, listener.numbers, listener.add, stop)
    optimizer = Optimizer()
    with pytest.raises(KeyboardInterrupt):
        step(optimizer)
    _core.optimizers_start(CATEGORY, listener.numbers, lambda _: 1 / 0, listener.step)  # type: ignore
    with pytest.raises(ZeroDivisionError):
        step(Optimizer())


@pytest.mark.usefixtures("listener")
def test_a_listener_may_end_it_all() -> None:
    ended_at = []

    def stop(_number: int, steps: int) -> int:
        ended_at.append(steps)
        _core.optimizers_stop()
        return 3

    listener = Listener()
    _core.optimizers_start(CATEGORY, listener.numbers, listener.add, stop)
    optimizer = Optimizer()
    for _ in range(3):
        step(optimizer)
    assert ended_at == [1]


def test_many_optimizers_on_threads(folder: Path, listener: Listener) -> None:
    def work() -> None:
        for _ in range(100):
            optimizer = Optimizer()
            step(optimizer)
            step(optimizer)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(listener.steps) == len(spans(folder)) == 800


def test_without_a_recording_nothing_happens() -> None:
    step(Optimizer())
    _core.optimizer_begins(*())  # type: ignore[call-arg]
