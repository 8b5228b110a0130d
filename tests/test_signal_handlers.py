"""What a signal handler of the script raises is not taken for an error of ours."""

import ast
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.native import _core
from stepscope.signal_handlers import let_pass, without_our_frames

PACKAGE = Path(stepscope.__file__).parent
IN_THE_SCRIPTS_PROCESS = (
    *("record/**/*.py", "trial/fixes/**/*.py", "trial/in_script.py"),
    *("keras/*.py", "lightning/*.py", "transformers/*.py"),
    *("store/writer.py", "store/plain_files.py"),
)
# Before the script there is no handler; what a machine can do is asked for after it.
ELSEWHERE = {"sitecustomize.py", "boot.py", "paths.py", "hardware.py"}
BROAD = {"Exception", "BaseException", "OSError", "RuntimeError"}
SWALLOWING = {
    *("os.path.exists", "os.path.lexists", "os.path.isfile", "os.path.isdir", "os.path.islink"),
    *("os.path.realpath", "os.makedirs"),
}


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


def catches_a_handlers(node: ast.AST) -> bool:
    """Handlers raise anything: a timeout is an OSError."""
    if isinstance(node, ast.ExceptHandler):
        kinds = ast.walk(node.type) if node.type else [ast.Name("BaseException")]
        return not BROAD.isdisjoint(kind.id for kind in kinds if isinstance(kind, ast.Name))
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name.endswith("suppress") and not BROAD.isdisjoint(map(ast.unparse, node.args))


def asks_for_files(node: ast.AST) -> bool:
    """By functions of the standard library that catch every OSError themselves."""
    return isinstance(node, ast.Attribute) and ast.unparse(node) in SWALLOWING


def lets_pass(node: ast.AST) -> bool:
    inside = list(ast.walk(node))
    calls = [ast.unparse(each.func) for each in inside if isinstance(each, ast.Call)]
    return "let_pass" in calls or any(isinstance(each, ast.Raise) for each in inside)


def test_whatever_catches_errors_in_the_scripts_process_lets_those_of_handlers_pass() -> None:
    files = [file for name in IN_THE_SCRIPTS_PROCESS for file in PACKAGE.glob(name)]
    swallowing = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in files
        if file.name not in ELSEWHERE
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ExceptHandler | ast.Call | ast.Attribute)
        and (asks_for_files(node) or (catches_a_handlers(node) and not lets_pass(node)))
    ]
    assert len(files) > 100
    assert swallowing == []
