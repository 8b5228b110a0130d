"""Functions whose calls are spans, and methods that open and close ranges: except for the call,
both behave like the function they replace."""

import copy
import inspect
import pickle
import weakref
from pathlib import Path
from typing import Any

import pytest

from native import recorded
from stepscope.native import _core
from stepscope.store import format as fmt


def spans(folder: Path) -> list[tuple[int, int, bool]]:
    """Name, category, and whether it has ended."""
    return [(span.name, span.category, span.has_ended) for span in recorded.spans(folder)]


def add(left: int, right: int = 1, *, times: int = 1) -> int:
    """Adds."""
    return (left + right) * times


class Model:
    def call(self, depth: int, *, fail: bool = False) -> int:
        if fail:
            raise ValueError(depth)
        return self.call(depth - 1) + 1 if depth else 0


def test_each_call_is_a_span(folder: Path) -> None:
    timed = _core.Timed(add, name=7, category=fmt.SpanCategory.OPTIMIZER)
    assert timed(1) == 2
    assert timed(1, 2) == 3
    assert timed(left=1, right=2, times=3) == 9
    assert timed(*(1, 2), times=2) == 6
    assert spans(folder) == [(7, fmt.SpanCategory.OPTIMIZER, True)] * 4


def test_what_it_raises_has_no_frame_of_ours_and_ends_the_span(folder: Path) -> None:
    timed = _core.Timed(Model.call, name=7, category=1)
    with pytest.raises(ValueError, match="3") as raised:
        timed(Model(), 3, fail=True)
    assert [entry.name for entry in raised.traceback][1:] == ["call"]
    assert spans(folder) == [(7, 1, True)]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        timed(Model())


def test_it_is_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    original: Any = add
    timed: Any = _core.Timed(add, 1, 2)
    assert inspect.isfunction(timed)
    assert inspect.signature(timed) == inspect.signature(add)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__code__", "__class__"):
        assert getattr(timed, name) is getattr(original, name)
    assert inspect.unwrap(timed) is original
    assert repr(timed) == repr(original)
    assert copy.deepcopy(timed) is timed
    monkeypatch.setitem(globals(), "add", timed)
    assert pickle.loads(pickle.dumps(timed)) is timed


def test_its_attributes_are_the_functions() -> None:
    original: Any = add
    timed: Any = _core.Timed(add, 1, 2)
    timed.of_the_script = 1
    assert original.of_the_script == 1
    assert timed.__dict__ is original.__dict__
    del timed.of_the_script
    with pytest.raises(AttributeError, match="of_the_script"):
        _ = timed.of_the_script


def test_in_a_class_it_is_a_method(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "call", _core.Timed(Model.call, 3, 2))
    model = Model()
    assert model.call(1) == 1
    assert Model.call(model, 1) == 1
    bound: Any = model.call
    assert (bound.__self__, bound(depth=1)) == (model, 1)
    assert str(inspect.signature(bound)) == "(depth: int, *, fail: bool = False) -> int"
    assert len(spans(folder)) == 6  # it calls itself


def test_an_operator_of_a_class_calls_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "__call__", _core.Timed(Model.call, 3, 2), raising=False)
    model: Any = Model()
    assert model(0) == 0
    assert len(spans(folder)) == 1


def test_stopped_it_only_calls(folder: Path) -> None:
    timed = _core.Timed(add, 1, 2)
    timed._stepscope_stop()
    assert timed(1) == 2
    assert not spans(folder)


def test_without_a_recording_it_only_calls() -> None:
    assert _core.Timed(add, 1, 2)(1) == 2


def test_nothing_keeps_it_alive() -> None:
    def function() -> None:
        return

    timed = _core.Timed(function, 1, 2)
    gone = weakref.ref(timed)
    del timed
    assert gone() is None


class Range:
    def __init__(self, name: Any) -> None:
        self.name = name

    def __enter__(self) -> "Range":
        return self

    def __exit__(self, *error: object) -> None:
        return


def test_ranges_of_others_are_asked_about(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[Any] = []
    ended: list[Any] = []
    enter, leave = vars(Range)["__enter__"], vars(Range)["__exit__"]
    ours = ("Optimizer.step#", "enumerate(")
    monkeypatch.setattr(Range, "__enter__", _core.Edge(enter, ours, lambda r: began.append(r.name)))
    edge = _core.Edge(leave, ours, lambda r: ended.append(r.name), is_end=True)
    monkeypatch.setattr(Range, "__exit__", edge)
    for name in ("mine", "Optimizer.step#Adam", "enumerate(loader)", 5, "Optimizer.step"):
        with Range(name) as entered:
            assert entered.name == name
            _core.range_span(4, 2)
    assert began == ended == ["mine", 5, "Optimizer.step"]
    still_open = [not has_ended for _name, _category, has_ended in spans(folder)]
    assert still_open == [True, False, False, True, True]
    edge._stepscope_stop()
    with Range("mine"):
        assert began.pop() == "mine"
    assert len(ended) == 3
