"""Hooks around the calls of a framework's function."""

import traceback
from typing import Any

import pytest

from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import followed, watched


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    monkeypatch.setattr(notes, "_note", texts.append)
    return texts


def divide(a: int, b: int = 1) -> float:
    return a / b


def fails(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("a hook of ours")


def test_the_end_gets_what_the_beginning_returned_and_the_result() -> None:
    seen: list[Any] = []
    run = watched(divide, lambda a, b: (a, b), lambda *at_end: seen.append(at_end))
    assert run(6, b=3) == 2
    assert seen == [((6, 3), 2)]


def test_without_a_beginning_there_is_no_end() -> None:
    assert watched(divide, lambda *_args: None, fails, fails)(6) == 6


def test_after_an_exception_the_end_gets_no_result() -> None:
    seen: list[Any] = []
    run = watched(divide, lambda *_args: "begun", lambda *at_end: seen.append(at_end))
    with pytest.raises(ZeroDivisionError):
        run(1, 0)
    assert seen == [("begun", None)]


def test_after_an_exception_its_own_hook_gets_it() -> None:
    seen: list[Any] = []
    run = watched(divide, lambda *_args: "begun", fails, lambda *at_end: seen.append(at_end))
    with pytest.raises(ZeroDivisionError) as raised:
        run(1, 0)
    assert seen == [("begun", raised.value)]


def test_exceptions_have_no_frame_of_ours() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        watched(divide, lambda *_args: "begun", lambda *_at_end: None)(1, 0)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names == ["test_exceptions_have_no_frame_of_ours", "divide"]


@pytest.mark.parametrize(
    "hooks", [(fails,), (lambda *_args: "begun", fails)], ids=["beginning", "end"]
)
def test_trouble_in_a_hook_is_noted_and_changes_nothing(noted: list[str], hooks: Any) -> None:
    run = watched(divide, *hooks)
    assert run(6, 3) == 2
    with pytest.raises(ZeroDivisionError):
        run(1, 0)
    assert set(noted) == {"divide is not watched completely: RuntimeError('a hook of ours')."}


def test_what_follows_a_call_gets_its_arguments_unless_it_raised() -> None:
    seen: list[Any] = []
    run = followed(divide, lambda *args, **kwargs: seen.append((args, kwargs)))
    run(6, b=3)
    with pytest.raises(ZeroDivisionError):
        run(1, 0)
    assert seen == [((6,), {"b": 3})]


def test_a_watched_method_comes_back() -> None:
    class Loop:
        def advance(self) -> str:
            return "advanced"

    before, patches = Loop.advance, Patches()
    patches.watch(Loop, "advance", lambda loop: None)
    assert Loop.advance is not before
    assert Loop().advance() == "advanced"
    patches.undo()
    assert Loop.advance is before
