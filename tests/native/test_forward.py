"""The method that calls a module: a span if it is the outermost call on its thread."""

import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from native import recorded
from stepscope.native import _core
from stepscope.store import format as fmt

CATEGORY = fmt.SpanCategory.FORWARD


@pytest.fixture
def called() -> Iterator[list[Any]]:
    modules: list[Any] = []
    _core.on_forward(modules.append)
    yield modules
    _core.on_forward(None)


class Span(NamedTuple):
    name: int
    samples: int
    flags: int
    has_ended: bool


def spans(folder: Path) -> list[Span]:
    return [
        Span(span.name, span.value0, span.value1, span.has_ended)
        for span in recorded.spans(folder)
        if span.category == CATEGORY
    ]


class Array:
    def __init__(self, *shape: Any) -> None:
        self.shape = shape


class Module:
    training: Any = True

    def call(self, batch: Any = None, *, depth: int = 0, fail: BaseException | None = None) -> int:
        if fail is not None:
            raise fail
        return self.call(batch, depth=depth - 1) + 1 if depth else 0


class Larger(Module):
    training = False


def forward(call: Callable[..., Any], grad: Callable[[], bool] = lambda: True) -> _core.Forward:
    return _core.Forward(call, CATEGORY, grad, {Module: 5, Larger: 6})


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> _core.Forward:
    made = forward(Module.call)
    monkeypatch.setattr(Module, "call", made)
    return made


@pytest.mark.usefixtures("native")
def test_only_the_outermost_call_is_a_span(folder: Path) -> None:
    assert Module().call(Array(8, 3), depth=3) == 3
    assert Larger().call(depth=1) == 1
    assert spans(folder) == [Span(5, 8, 0, True), Span(6, 0, fmt.ForwardFlag.EVALUATING, True)]


@pytest.mark.usefixtures("native")
def test_inner_calls_are_spans_where_modules_are_wanted(folder: Path) -> None:
    _core.forward_modules(True)
    try:
        Module().call(depth=2)
        with pytest.raises(ValueError, match="broken"):
            Module().call(depth=1, fail=ValueError("broken"))
    finally:
        _core.forward_modules(False)
    Module().call(depth=2)
    inner = [each for each in recorded.spans(folder) if each.category == fmt.SpanCategory.MODULE]
    assert [(each.name, each.has_ended) for each in inner] == [(5, True)] * 2
    assert len(spans(folder)) == 3


@pytest.mark.usefixtures("native")
def test_a_call_that_raises_ends_its_span_and_the_next_is_outermost_again(folder: Path) -> None:
    for error in (ValueError(), KeyboardInterrupt()):
        with pytest.raises(type(error)) as raised:
            Module().call(Array(2), fail=error)
        assert [entry.name for entry in raised.traceback][1:] == ["call"]
    assert spans(folder) == [Span(5, 2, 0, True)] * 2


def test_outermost_on_each_thread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(self: Module) -> None:
        if threading.current_thread() is threading.main_thread():
            thread = threading.Thread(target=self.call)
            thread.start()
            thread.join()

    monkeypatch.setattr(Module, "call", forward(call))
    Module().call()
    assert len(spans(folder)) == 2


def test_without_gradients(folder: Path) -> None:
    assert forward(Module.call, lambda: False)(Module(), Array(4)) == 0
    assert spans(folder) == [Span(5, 4, fmt.ForwardFlag.NO_GRAD, True)]


@pytest.mark.usefixtures("native")
def test_a_batch_given_by_name(folder: Path) -> None:
    Module().call(batch=Array(7))
    assert spans(folder)[0].samples == 7


def test_modules_without_what_torch_gives_them(folder: Path) -> None:
    """Torch itself says what is wrong with them."""
    assert _core.Forward(lambda _self: 3, CATEGORY, lambda: True, {int: 9})(1) == 3
    assert spans(folder) == [Span(9, 0, 0, True)]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'self'"):
        forward(Module.call)()


def test_what_is_asked_may_raise(folder: Path) -> None:
    def interrupted() -> bool:
        raise KeyboardInterrupt

    class Odd(Array):
        @property
        def shape(self) -> Any:
            raise KeyboardInterrupt

        @shape.setter
        def shape(self, _shape: Any) -> None: ...

    for call in (forward(Module.call, interrupted), forward(Module.call)):
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                call(Module(), Odd())
    with pytest.raises(KeyError):
        forward(Module.call)(3)
    assert not spans(folder)


@pytest.mark.usefixtures("folder", "native")
def test_who_listens_is_called_before_each_outermost_call(called: list[Any]) -> None:
    first, second = Module(), Larger()
    first.call(depth=2)
    second.call()
    assert called == [first, second]


@pytest.mark.usefixtures("native")
def test_a_listener_may_go_while_it_is_called() -> None:
    called = []

    def listener(module: Any) -> None:
        called.append(module)
        _core.on_forward(None)

    _core.on_forward(listener)
    gone = weakref.ref(listener)
    del listener
    Module().call()
    Module().call()
    assert len(called) == 1
    assert gone() is None


@pytest.mark.usefixtures("native")
def test_what_a_listener_raises_reaches_the_caller() -> None:
    def listener(_module: Any) -> None:
        raise ValueError("stop here")

    _core.on_forward(listener)
    with pytest.raises(ValueError, match="stop here"):
        Module().call()
    _core.on_forward(None)
    assert Module().call() == 0


def test_stopped_it_only_calls(folder: Path, native: _core.Forward, called: list[Any]) -> None:
    native._stepscope_stop()
    assert Module().call(depth=2) == 2
    assert not spans(folder)
    assert not called


def test_a_method_in_python_does_the_same(folder: Path, native: _core.Forward) -> None:
    module = Larger()
    span = _core.forward_begins(native, module, Array(3), option=1)
    assert span
    assert _core.forward_begins(native, module) is None
    assert module.call(depth=2) == 2
    _core.forward_ends(None)
    assert _core.forward_begins(native, module) is None
    _core.forward_ends(span)
    again = _core.forward_begins(native, module)
    assert again
    _core.forward_ends(again)
    assert [each.samples for each in spans(folder)] == [3, 0]
    assert all(each.has_ended for each in spans(folder))
    with pytest.raises(TypeError, match="a Forward"):
        _core.forward_begins(module, module)  # type: ignore[arg-type]


# --- samples in a batch ---------------------------------------------------------------------------


class Subclass(dict[str, Any]):
    def values(self) -> Any:
        return [Array(11)]


class Pair(NamedTuple):
    images: Any
    labels: Any


class Symbol:
    """A length that is not known yet: asking for it as a number would fix it."""

    def __int__(self) -> int:
        raise AssertionError

    __index__ = __int__


class Refusing:
    @property
    def shape(self) -> Any:
        raise RuntimeError("no shape")


@pytest.mark.parametrize(
    ("batch", "samples"),
    [
        (Array(5, 2), 5),
        ((Array(5), Array(6)), 5),
        ([[(Array(4),)]], 4),
        ({"image": Array(3), "label": Array(9)}, 3),
        ({"image": [Array(3)]}, 3),
        (Pair(Array(8), 1), 8),
        (Subclass(a=1), 11),
        (Array(0), 0),
        ((), None),
        ({}, None),
        (None, None),
        (3, None),
        ("text", None),
        (Array(), None),
        (Array(None, 2), None),
        (Array(-1), None),
        (Array(1 << 80), None),
        (Array(Symbol()), None),
        (Refusing(), None),
    ],
)
def test_samples_in(batch: object, samples: int | None) -> None:
    assert _core.samples_in(batch) == samples


def test_a_list_that_contains_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert _core.samples_in(endless) is None
