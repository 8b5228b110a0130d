"""Many ranks are read side by side, by processes or by dask's workers: what comes out is the same,
and a worker that dies costs one file."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

import needs
from small_traces import rank_trace, stacks_trace
from stepscope.analyze.answers.ranks import ranks
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.operators.device import device
from stepscope.analyze.traces import foreign, windows
from stepscope.analyze.traces.foreign import load_any
from stepscope.analyze.traces.shelf import Shelf
from stepscope.analyze.traces.side_by_side import Reader, by_processes, one_by_one
from stepscope.cli.main import main

# By a process of its own: a cluster starts threads that outlive it.
_BY_DASK = """
import sys
from pathlib import Path
from analyze.ranks.test_many_ranks import answers
from stepscope.analyze.traces.on_dask import dask_reader
sys.stdout.buffer.write(answers(Path(sys.argv[1]), dask_reader(None)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five ranks; one comes late, one has another clock, one has no device."""
    traces = tmp_path / "traces"
    traces.mkdir()
    for rank in range(4):
        path = traces / f"rank{rank}.json"
        rank_trace(path, rank, late_us=200.0 * (rank == 2), clock_us=5e3 * (rank == 1))
    stacks_trace(traces / "rank4.json")
    return traces


@pytest.fixture(autouse=True)
def _nothing_read_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "_shelf", Shelf())


def two_processes(paths: Any, take: Any) -> None:
    by_processes(paths, take, 2)


def answers(folder: Path, read: Reader) -> bytes:
    """Every number of several views."""
    with mock.patch.object(foreign, "traces_in", _all_in):  # also the pipe of `deadly`
        run = load_any(folder, read)
    return msgspec.json.encode([summary(run), ranks(run), device(run)])


def _all_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def by_dask(folder: Path) -> "subprocess.CompletedProcess[bytes]":
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-c", _BY_DASK, str(folder)],
        capture_output=True, check=False, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip


def test_processes_read_what_one_alone_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = answers(folder, one_by_one)
    monkeypatch.setattr(windows, "_shelf", Shelf())
    assert answers(folder, two_processes) == alone
    assert answers(folder, two_processes) == alone  # and again, from what is kept


def test_each_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_any(folder, two_processes)
    monkeypatch.setattr(windows, "read_anew", lambda path: pytest.fail(f"{path} is read again"))
    answers(folder, one_by_one)


@needs.package("distributed")
def test_dasks_workers_read_what_one_process_alone_reads(folder: Path) -> None:
    done = by_dask(folder)
    assert done.returncode == 0, done.stderr.decode()
    assert msgspec.json.decode(done.stdout) == msgspec.json.decode(answers(folder, one_by_one))


# --- a scheduler of somebody else -----------------------------------------------------------------

# What the scheduler did for us, in a process of its own as above.
_DONE_THERE = """
import sys
import distributed
def done(dask_scheduler):
    return dask_scheduler.task_prefixes["reading"].state_counts["memory"]
with distributed.Client(sys.argv[1]) as client:
    print(client.run_on_scheduler(done))
"""


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A scheduler and two workers, each a process, as somebody starts them on their machines."""
    about = ["--no-dashboard", "--host", "127.0.0.1"]
    with (
        dask(folder, "scheduler", "--port", "0", *about) as scheduler,
        contextlib.ExitStack() as workers,
    ):
        assert scheduler.stderr is not None
        said = next(line for line in scheduler.stderr if "Scheduler at:" in line)
        address = said.split()[-1]
        for _ in range(2):
            workers.enter_context(
                dask(folder, "worker", address, "--nthreads", "1", "--no-nanny", *about)
            )
        yield address


@contextlib.contextmanager
def dask(folder: Path, what: str, *words: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def shown(folder: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "show", str(folder), "ranks", "--json", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@needs.package("distributed")
def test_the_workers_of_a_scheduler_read_what_this_machine_reads(
    folder: Path, tmp_path: Path
) -> None:
    with cluster(tmp_path) as address:
        assert shown(folder, "--scheduler", address) == shown(folder)
        asked = [sys.executable, "-c", _DONE_THERE, address]
        assert subprocess.check_output(asked, text=True).strip() == "5"


# --- a worker that dies ---------------------------------------------------------------------------


@contextlib.contextmanager
def deadly(path: Path) -> Iterator[None]:
    """Whoever opens this file is killed, as when memory runs out."""
    path.unlink()
    os.mkfifo(path)
    is_over = threading.Event()
    killer = threading.Thread(target=_kill_who_reads, args=(path, is_over))
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # the thread waits for one
        killer.join()
        os.close(reader)


def _kill_who_reads(path: Path, is_over: threading.Event) -> None:
    while not is_over.is_set():
        descriptor = os.open(path, os.O_WRONLY)  # waits for a reader
        for link in Path("/proc").glob("[0-9]*/fd/*"):
            with contextlib.suppress(OSError):
                if link.parts[2] != str(os.getpid()) and link.resolve() == path:
                    os.kill(int(link.parts[2]), signal.SIGKILL)
        os.close(descriptor)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds the reader in /proc")
def test_a_process_that_is_killed_costs_one_file_and_says_so(folder: Path) -> None:
    with deadly(folder / "rank2.json"):
        of_run, of_ranks, _ = msgspec.json.decode(answers(folder, two_processes))
    assert [row["rank"] for row in of_ranks["ranks"]] == [0, 1, 3, 4]
    said = [note for note in of_run["notes"] if "rank2.json' is left out" in note]
    assert len(said) == 1
    assert "SIGKILL" in said[0]


@needs.package("distributed")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds the reader in /proc")
def test_a_dask_worker_that_is_killed_costs_one_file_and_says_so(folder: Path) -> None:
    with deadly(folder / "rank2.json"):
        done = by_dask(folder)
    assert done.returncode == 0, done.stderr.decode()
    of_run, of_ranks, _ = msgspec.json.decode(done.stdout)
    assert [row["rank"] for row in of_ranks["ranks"]] == [0, 1, 3, 4]
    assert any("rank2.json' is left out: the dask worker" in note for note in of_run["notes"])


# --- no dask, no scheduler ------------------------------------------------------------------------


def test_without_dask_it_says_how_to_get_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["show", str(folder), "--engine", "dask"]) == 4
    assert "pip install 'stepscope[dask]'" in capsys.readouterr().err


@needs.package("distributed")
def test_a_scheduler_that_is_not_there_is_an_error_that_says_what_to_do(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "show", str(folder), "--scheduler", "tcp://127.0.0.1:9"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4
    assert "No dask scheduler answers at 'tcp://127.0.0.1:9'" in done.stderr
    assert "Start one with 'dask scheduler'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scheduler_of_processes_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["show", str(folder), "--engine", "processes", "--scheduler", "tcp://a:1"]
    assert main(words) == 2
    assert "--scheduler" in capsys.readouterr().err
