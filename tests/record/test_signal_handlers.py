"""What a signal handler of the script raises is not taken for an error of ours."""

import ast
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.native import _core
from stepscope.record.code.signal_handlers import let_pass, without_our_frames

PACKAGE = Path(stepscope.__file__).parent
IN_THE_SCRIPTS_PROCESS = (
    *("record/**/*.py", "trial/fixes/**/*.py", "trial/in_script.py"),
    *("keras/*.py", "lightning/*.py"),
)


class Alarm(Exception):
    pass


@pytest.fixture
def raise_alarm() -> Iterator[Callable[[], None]]:
    def on_alarm(number: int, frame: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # it is not registered any more
        raise Alarm

    before = signal.signal(signal.SIGALRM, on_alarm)
    yield lambda: signal.raise_signal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, before)


def caught(function: Callable[[], object]) -> BaseException:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("it raises nothing")


def test_what_a_handler_raised_is_passed_on_without_our_frames(
    raise_alarm: Callable[[], None],
) -> None:
    error = caught(raise_alarm)
    found = without_our_frames(error)
    assert found is error
    assert found.__traceback__ is not None
    assert found.__traceback__.tb_frame.f_code.co_name == "on_alarm"
    with pytest.raises(Alarm):
        let_pass(error)


def test_an_error_of_ours_is_not(raise_alarm: Callable[[], None]) -> None:
    def ours(number: int, what: object) -> None:
        raise ValueError(number, what)

    assert without_our_frames(caught(lambda: ours(3, None))) is None


def test_an_error_that_wraps_or_follows_what_a_handler_raised_stands_for_it(
    raise_alarm: Callable[[], None],
) -> None:
    def fails() -> None:
        try:
            raise_alarm()
        finally:
            raise KeyError("tidying up fails, too")

    found = without_our_frames(caught(fails))
    assert isinstance(found, Alarm)
    with pytest.raises(Alarm) as info:
        pass_on_while_handling(found)
    assert info.value.__context__ is None


def pass_on_while_handling(alarm: BaseException) -> None:
    try:
        raise KeyError("wrapped") from alarm
    except KeyError as error:
        let_pass(error)


def test_an_exception_that_the_script_is_handling_meanwhile_is_not_raised_again(
    raise_alarm: Callable[[], None],
) -> None:
    def ours() -> None:
        raise ValueError("an error of ours, while the script handles its alarm")

    try:
        raise_alarm()
    except Alarm:
        error = caught(ours)
        assert isinstance(error.__context__, Alarm)
        assert without_our_frames(error) is None


def test_a_handler_that_raises_while_a_shape_is_read_is_not_swallowed(
    raise_alarm: Callable[[], None],
) -> None:
    class Batch:
        @property
        def shape(self) -> Any:
            raise_alarm()

    _core.find_handlers_with(without_our_frames)
    try:
        with pytest.raises(Alarm):
            _core.samples_in(Batch())
    finally:
        _core.find_handlers_with(None)


def catches_all(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
    is_call = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress")
    return is_call and "Exception" in [ast.unparse(each) for each in node.args]  # type: ignore[attr-defined]  # a call


def lets_pass(node: ast.AST) -> bool:
    inside = list(ast.walk(node))
    calls = [ast.unparse(each.func) for each in inside if isinstance(each, ast.Call)]
    return "let_pass" in calls or any(isinstance(each, ast.Raise) for each in inside)


def test_whatever_catches_all_errors_in_the_scripts_process_lets_those_of_handlers_pass() -> None:
    files = [file for name in IN_THE_SCRIPTS_PROCESS for file in PACKAGE.glob(name)]
    swallowing = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in files
        if file.name != "sitecustomize.py"  # before the script there is no handler
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ExceptHandler | ast.Call)
        and catches_all(node)
        and not lets_pass(node)
    ]
    assert len(files) > 100
    assert swallowing == []
