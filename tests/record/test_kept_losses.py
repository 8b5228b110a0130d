"""Losses while recording: which value is one, and when it is read."""

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from stepscope.record.frameworks.torch import losses as torch_losses
from stepscope.record.frameworks.watching import losses
from stepscope.record.names import naming


class Array:
    """As the frameworks have them."""

    def __init__(self, value: float, *sizes: int, dtype: str = "float32") -> None:
        self.value, self.shape, self.dtype = value, sizes, dtype


class OnDevice(Array):
    """Its value is not there yet."""


WEIGHTS = Array(0.0, 16, 4)
COUNT = Array(3.0, dtype="int32")


def refuse(array: OnDevice) -> float:
    raise RuntimeError("the array has been deleted")


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, float]]]:
    """(when, value) of what was recorded."""
    found: list[tuple[int, float]] = []

    def record(_label: str, at_ticks: int, value: float, _flags: int = 0) -> None:
        found.append((at_ticks, value))

    monkeypatch.setattr(losses, "_readers", {Array: lambda array: float(array.value)})
    monkeypatch.setattr(losses, "record", record)
    monkeypatch.setattr(naming, "name_id", lambda _name: 1)
    yield found
    losses._waiting.clear()


@pytest.mark.parametrize(
    ("result", "values"),
    [
        (Array(1.5), [1.5]),
        (1.5, [1.5]),
        (({"w": WEIGHTS}, Array(1.5)), [1.5]),
        (({"w": WEIGHTS, "scale": Array(9.0)}, COUNT, Array(1.5)), [1.5]),
        (((Array(1.5), WEIGHTS), {"w": WEIGHTS}), [1.5]),
        (({"w": WEIGHTS}, {"accuracy": Array(0.5), "Loss": Array(1.5)}), [1.5]),
        (({"w": WEIGHTS}, {"critic": Array(1.5), "actor": Array(2.5)}), [1.5, 2.5]),
        ({"loss": Array(1.5), "outputs": WEIGHTS}, [1.5]),
        (({"w": WEIGHTS, "scale": Array(9.0)}, {"w": WEIGHTS}), []),
        (({"w": WEIGHTS}, COUNT), []),
        (Array(1.5, 8), []),
        (None, []),
        (object(), []),
    ],
)
def test_the_loss_is_the_float_nearest_to_the_surface(result: Any, values: list[float]) -> None:
    found = losses.found_in(result)
    assert [getattr(value, "value", value) for value in found] == values


def test_a_value_on_a_device_is_read_with_a_hundred_others(
    recorded: list[tuple[int, float]],
) -> None:
    for number in range(99):
        losses.keep("update", number, OnDevice(float(number)))
    assert recorded == []
    losses.keep("update", 99, OnDevice(99.0))
    assert recorded == [(number, float(number)) for number in range(100)]


def test_what_waits_is_read_at_the_end(recorded: list[tuple[int, float]]) -> None:
    losses.keep("update", 7, OnDevice(1.5))
    losses.keep("fit", 8, 2.5)
    assert recorded == [(8, 2.5)]
    losses.read_all()
    losses.read_all()
    assert recorded == [(8, 2.5), (7, 1.5)]


def test_a_value_that_is_gone_costs_only_itself(
    recorded: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    monkeypatch.setattr("stepscope.record.frameworks.watching.notes._note", noted.append)
    losses.read_later("update", 1, OnDevice(1.0), refuse)
    losses.keep("update", 2, OnDevice(2.0))
    losses.read_all()
    assert recorded == [(2, 2.0)]
    assert noted == ["A loss was not recorded: RuntimeError('the array has been deleted')."]


def test_a_forked_child_leaves_its_parents_values_alone(
    recorded: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    losses.read_later("update", 1, OnDevice(1.0), refuse)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    losses.read_all()
    assert recorded == []


# --- torch on a device ----------------------------------------------------------------------------


class Tensor:
    """On a GPU, as far as we look at it."""

    def __init__(self, value: float, kind: str = "cuda") -> None:
        self.value = value
        self.device = SimpleNamespace(type=kind)
        self.is_cuda = kind == "cuda"

    def sum(self, dtype: Any) -> "Tensor":
        assert (dtype is None) == (self.device.type == "mps"), "there is no float64 on it"
        return Tensor(self.value, self.device.type)

    def item(self) -> float:
        return self.value


IS_CAPTURING = "is_current_stream_capturing"


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    torch = needs.module("torch")
    monkeypatch.setattr(torch.cuda, IS_CAPTURING, lambda: False)
    return torch


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_loss_on_a_device_is_copied_there(torch: Any, kind: str) -> None:
    """The script may change it before it is read."""
    loss = Tensor(1.5, kind)
    copy = torch_losses._Values(torch).of(loss)
    loss.value = 0.0
    assert torch_losses._item(copy) == 1.5


def test_nothing_of_ours_gets_into_a_cuda_graph(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, IS_CAPTURING, lambda: True)
    assert torch_losses._Values(torch).of(Tensor(1.5)) is None
