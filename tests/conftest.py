"""What every test starts with and must leave unchanged; which tests run by day."""

import builtins
import collections
import gc
import importlib.machinery
import marshal
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from losses_in_runs import Watch, losses_in, recorded_in

# Hundreds of quiet runs are only asked for their answers: no one would read their reports.
os.environ["STEPSCOPE_REPORT"] = "off"

# No test is timed: a busy machine takes as long as it takes.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

THREAD_GRACE_S = 5.0  # a thread that is about to end may do so; one that keeps waiting is a leak

# Where a recorder could leave a patch behind.
PATCHABLE: dict[str, Any] = {
    "builtins": builtins,
    "marshal": marshal,
    "runpy": runpy,
    "threading.Thread": threading.Thread,
    "SourceFileLoader": importlib.machinery.SourceFileLoader,
    "SourcelessFileLoader": importlib.machinery.SourcelessFileLoader,
    "ExtensionFileLoader": importlib.machinery.ExtensionFileLoader,
}
# `_` is the last value an interactive session printed; the others are caches of the interpreter.
NOT_PATCHES = {"_", "__warningregistry__", "__abc_tpflags__"}


def attributes() -> dict[str, int]:
    """The current object of each patchable name."""
    return {
        f"{where}.{name}": id(value)
        for where, thing in PATCHABLE.items()
        for name, value in vars(thing).items()
        if name not in NOT_PATCHES
    }


def monitoring_tools() -> dict[int, tuple[str, int]]:
    """Python 3.12 and later: tool id to its name and global events."""
    if sys.version_info < (3, 12):
        return {}
    names = {tool: sys.monitoring.get_tool(tool) for tool in range(6)}
    return {
        tool: (name, sys.monitoring.get_events(tool))
        for tool, name in names.items()
        if name is not None
    }


def signal_handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def environment() -> dict[str, str]:
    ours = dict(os.environ)
    ours.pop("PYTEST_CURRENT_TEST", None)
    return ours


def native_threads() -> list[str]:
    """Our own threads that Python does not know about, by their own names."""
    names = []
    for task in Path("/proc/self/task").glob("*/comm"):
        try:
            names.append(task.read_text().strip())
        except OSError:  # it ended meanwhile
            continue
    return [name for name in names if name.startswith("stepscope")]


def _is_hypothesis(callback: Any) -> bool:
    """Hypothesis measures collections from its first property test."""
    return str(getattr(callback, "__module__", "")).startswith("hypothesis")


def snapshot() -> dict[str, Any]:
    return {
        "gc.callbacks": [each for each in gc.callbacks if not _is_hypothesis(each)],
        "gc.isenabled": gc.isenabled(),
        "sys.monitoring": monitoring_tools(),
        "sys.gettrace": sys.gettrace(),
        "sys.getprofile": sys.getprofile(),
        "threading.gettrace": threading.gettrace(),
        "threading.getprofile": threading.getprofile(),
        "sys.meta_path": list(sys.meta_path),
        "sys.path_hooks": list(sys.path_hooks),
        "sys.excepthook": sys.excepthook,
        "os.environ": environment(),
        "folder": os.getcwd(),
        "signal handlers": signal_handlers(),
        "patches": attributes(),
        "native threads": native_threads(),
    }


def differences(before: Any, after: Any) -> Any:
    """What differs between two values of a snapshot, as short as possible."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = before.keys() | after.keys()
        return {
            key: (before.get(key, "absent"), after.get(key, "absent"))
            for key in keys
            if before.get(key) != after.get(key)
        }
    return before, after


def threads_left(before: set[threading.Thread]) -> list[threading.Thread]:
    started = [thread for thread in threading.enumerate() if thread not in before]
    for thread in started:
        thread.join(THREAD_GRACE_S)
    return [thread for thread in started if thread.is_alive()]


@pytest.fixture(autouse=True)
def nothing_outlives_a_test() -> Iterator[None]:
    threads_before = set(threading.enumerate())
    before = snapshot()
    yield
    left = threads_left(threads_before)
    after = snapshot()
    changed = {
        what: differences(before[what], after[what])
        for what in before
        if before[what] != after[what]
    }
    if left:
        changed["threads"] = left
    assert not changed, f"outlived the test: {changed}"


@pytest.fixture(scope="session")
def runs_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Watch:
    return Watch(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def no_recording_lost_anything(
    request: pytest.FixtureRequest, runs_of_tests: Watch
) -> Iterator[None]:
    """Whatever a test is about: a recording that fails somewhere says so only in its run."""
    yield
    new = runs_of_tests.new_folders(request.node.funcargs.get("tmp_path"))
    lost = [note for folder in new for note in losses_in(folder)]
    if request.node.get_closest_marker("may_lose") is None:
        assert not lost, f"lost while recording: {lost}"
    if request.config.getoption("--views-agree"):
        from agreement import disagreements

        runs = [run for folder in new for run in recorded_in(folder)]
        differing = {run: words for run in runs if (words := disagreements(run))}
        assert not differing, f"views disagree: {differing}"


# --- as from a shell ------------------------------------------------------------------------------

# Width and colours of the user's terminal.
OF_A_TERMINAL = "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"
AS_IN_PYTHON = {signal.SIGINT: signal.default_int_handler}  # tests interrupt themselves, too
IGNORED_BY_PYTHON = signal.SIGPIPE, signal.SIGXFSZ  # subprocess gives them back to its children


def pytest_configure() -> None:
    """Programs under test start as from a shell, whatever started the tests: nohup ignores some
    signals, a background job others, and a program inherits both."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {*IGNORED_BY_PYTHON}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, AS_IN_PYTHON.get(number, _ignore))
    for name in OF_A_TERMINAL:
        os.environ.pop(name, None)


def _ignore(*_: object) -> None:
    """Ignores a signal here, but not in the programs that are started from here."""


# --- by day and by night --------------------------------------------------------------------------

# What another engine for lines and calls can break. Everything else runs on one Python by day.
OF_THE_ENGINE = (
    "cli/test_run.py", "cli/test_run_signals.py", "ipython", "native", "nightly", "profile",
    "record", "robustness/test_budget.py", "robustness/test_death.py",
    "robustness/test_exact_lines.py", "transparency", "line_profiler", "test_package",
    "test_run_object",
)  # fmt: skip
TESTS = Path(__file__).parent

left_for_the_night: collections.Counter[str] = collections.Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "leave for the night what is the same with every engine for lines and calls"
    parser.addoption("--engine", action="store_true", help=help_text)
    help_text = "check that all views of every run that a test records say the same"
    parser.addoption("--views-agree", action="store_true", help=help_text)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Notebook cells are recorded in this process, together with the tests' own functions: those
    tests run last."""
    items.sort(key=lambda item: item.path.parent.name == "ipython" and "cell" not in item.path.name)
    if config.getoption("--engine"):
        for item in items:
            if not item.path.relative_to(TESTS).as_posix().startswith(OF_THE_ENGINE):
                item.add_marker("nightly")


def pytest_deselected(items: list[pytest.Item]) -> None:
    left_for_the_night.update(place(item) for item in items if item.get_closest_marker("nightly"))


def place(item: pytest.Item) -> str:
    """Its folder in tests/, or its file if that is not in a folder."""
    return item.path.relative_to(TESTS).parts[0].removesuffix(".py")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """.ci/test repeats this at its end."""
    asked = terminalreporter.config.option
    if left_for_the_night and asked.markexpr == "not nightly" and not asked.keyword:
        count = sum(left_for_the_night.values())
        collected = terminalreporter._numcollected
        places = ", ".join(f"{where} {number}" for where, number in left_for_the_night.items())
        terminalreporter.write_line(f"left for the night: {count} of {collected} tests ({places})")
