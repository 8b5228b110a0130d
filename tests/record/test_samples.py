"""The sampler on real programs: what it says agrees with what the programs measured themselves."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from clean_environment import environment
from stepscope.analyze.code.stack_tree import CUT, sampled_functions, stacks
from stepscope.analyze.phases.looks import moments
from stepscope.analyze.run import load
from stepscope.launch.options import RecordOptions
from stepscope.model import StackRow, ThreadStacks
from stepscope.native import _core
from stepscope.record import recording
from stepscope.record.names.function_names import builtin_label
from stepscope.store.reader import Run
from transparency.both import PATIENCE_S

PROGRAMS = Path(__file__).parent.parent / "programs" / "samples"
SIGMAS = 5
ROUNDING = 0.02  # of a share: a beat at either end, and the program's other work


def command(folder: Path, name: str, options: Sequence[str]) -> list[str]:
    words = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", str(folder / "run")]
    return [*words, *options, str(PROGRAMS / f"{name}.py")]


def record(folder: Path, name: str, *options: str) -> tuple[Run, str]:
    """The run, and what the program printed."""
    done = subprocess.run(
        command(folder, name, options),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return load(folder / "run"), done.stdout


def thread_of(run: Run, name: str, role: str = "main") -> ThreadStacks:
    return next(
        each for each in stacks(run).threads if each.thread == name and each.process.role == role
    )


def row_of(thread: ThreadStacks, function: str) -> StackRow:
    return next(row for row in thread.rows if row.function == function)


def even_samples(run: Run) -> float:
    """Of the main thread: as many of equal weight would say as much. Where the sampler had no core
    for a while, one sample stands for all of it."""
    (process,) = run.processes
    samples = process.samples.samples
    _, _, weight = moments(process, samples[samples["thread"] == process.main_thread])
    return float(weight.sum() ** 2 / (weight**2).sum())


def assert_agrees(sampled: float, exact: float, samples: float) -> None:
    """Two shares, the first estimated from that many samples."""
    error = math.sqrt(max(exact * (1 - exact), 0.01) / samples)
    assert abs(sampled - exact) < SIGMAS * error + ROUNDING, (sampled, exact, samples)


@pytest.mark.parametrize("name", ["known_shares", "calls_into_c", "lets_go_often"])
def test_shares_agree_with_the_measured_ones(tmp_path: Path, name: str) -> None:
    run, printed = record(tmp_path, name)
    spent: dict[str, float] = json.loads(printed)
    thread = thread_of(run, "MainThread")
    found = {row.function: row for row in thread.rows if row.function in spent}
    assert found.keys() == spent.keys()
    together = sum(row.total_ns for row in found.values())
    for function, seconds in spent.items():
        exact = seconds / sum(spent.values())
        assert_agrees(found[function].total_ns / together, exact, even_samples(run))


def test_short_functions_have_their_time_and_not_their_callers(tmp_path: Path) -> None:
    """The interpreter never releases the GIL in them: a sampler that waits for it misses them."""
    run, printed = record(tmp_path, "short_functions")
    spent: dict[str, float] = json.loads(printed)
    thread = thread_of(run, "MainThread")
    assert row_of(thread, "dear").total_ns > 2 * row_of(thread, "cheap").total_ns
    assert row_of(thread, "cheap").total_ns > 2 * thread.total_ns * 0.02
    alternate = row_of(thread, "alternate")
    assert alternate.self_ns < alternate.total_ns / 2
    assert spent["dear"] > spent["cheap"]


def test_a_blocked_main_thread_and_the_others_are_all_seen(tmp_path: Path) -> None:
    run, printed = record(tmp_path, "blocked_main")
    spent: dict[str, float] = json.loads(printed)
    for name, function in (("MainThread", "waiting"), ("works", "working"), ("sleeps", "sleeping")):
        row = row_of(thread_of(run, name), function)
        assert row.total_ns / 1e9 == pytest.approx(spent[function], rel=0.2)


def test_parent_and_forked_child_are_both_sampled(tmp_path: Path) -> None:
    """The parent only waits: no user line begins that would restart its sampler."""
    run, _ = record(tmp_path, "forks")
    child = thread_of(run, "MainThread", "worker")
    assert row_of(child, "in_the_child").share > 0.5
    parent = thread_of(run, "MainThread", "main")
    assert parent.total_ns > child.total_ns / 2
    assert not [row for row in parent.rows if row.function == "in_the_child"]


def test_threads_by_the_thousand_are_survived(tmp_path: Path) -> None:
    run, printed = record(tmp_path, "many_threads")
    assert printed == "done\n"
    kinds = {each.thread: each for each in stacks(run).threads}
    assert kinds["Thread-* (patient)"].threads > 100
    assert not [name for name in kinds if name.startswith("thread ")]


def test_a_deep_stack_is_cut_in_the_middle_and_said(tmp_path: Path) -> None:
    run, printed = record(tmp_path, "deep_recursion")
    assert printed == "done\n"
    thread = thread_of(run, "MainThread")
    assert [row.function for row in thread.rows[:2]] == ["<module>", "descend"]
    assert row_of(thread, "at_the_end").share > 0.3
    assert CUT in stacks(run).notes


def test_calls_that_a_signal_would_end_last_their_time(tmp_path: Path) -> None:
    _, printed = record(tmp_path, "sensitive_to_signals")
    assert json.loads(printed) == [[name, 0, 0, True] for name in ("poll", "usleep", "select")]


def test_our_own_frames_never_appear(tmp_path: Path) -> None:
    run, _ = record(tmp_path, "with_our_wrappers")
    files = {row.file for each in stacks(run).threads for row in each.rows}
    ours = str(Path(recording.__file__).parent.parent)
    assert not [file for file in files if file.startswith(ours)]
    thread = thread_of(run, "MainThread")
    assert row_of(thread, "encode").depth == row_of(thread, "batches").depth == 1
    assert any(row.library == "json" for row in thread.rows)


def test_a_killed_process_keeps_its_samples(tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path, "until_killed", ()),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        (folder,) = (tmp_path / "run").glob("proc-*")
        recorded = json.loads((folder / "process.json").read_text())["pid"]
        os.kill(recorded, signal.SIGKILL)
    thread = thread_of(load(tmp_path / "run"), "MainThread")
    assert row_of(thread, "work").share > 0.3


def test_sampled_functions_are_those_of_the_tree(tmp_path: Path) -> None:
    run, _ = record(tmp_path, "known_shares")
    assert run.main is not None
    found = {each.name: each for each in sampled_functions(run, run.main)}
    rows = thread_of(run, "MainThread").rows
    assert found["fifty"].cumtime_ns == row_of(thread_of(run, "MainThread"), "fifty").total_ns
    assert found["spin"].cumtime_ns == sum(row.total_ns for row in rows if row.function == "spin")
    assert found["fifty"].file.endswith("known_shares.py")


def test_builtins_are_called_as_pstats_calls_them() -> None:
    assert builtin_label(time.sleep) == "<built-in method time.sleep>"
    assert builtin_label(len) == "<built-in method builtins.len>"
    assert builtin_label([].append) == "<method 'append' of 'list' objects>"
    assert builtin_label(dict.fromkeys) == "<built-in method fromkeys>"


def test_after_its_full_time_the_sampler_looks_a_tenth_as_often(tmp_path: Path) -> None:
    """Counted in looks at this thread while it waits for nothing."""

    def looks(full_s: float) -> int:
        folder = tmp_path / str(full_s)
        recording.start(str(folder), RecordOptions())
        _core.heartbeat_stop()
        _core.heartbeat_start(10, 0.03, 20.0, True, None, full_s)
        threading.Event().wait(0.5)
        recording.stop()
        (folder / "run.json").write_text('{"format": 1}')
        return sum(each.samples for each in stacks(load(folder)).threads)

    assert looks(600.0) > 2 * looks(0.0) > 0
