"""What a script does to the interpreter: recorded, it ends as it does without us."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import needs
from asking import answer as shown
from asking import page
from robustness.running import line_rows, record
from stepscope.native import _core

PACKAGE = Path(_core.__file__).parent.parent


def recorded(folder: Path, name: str, *arguments: str, status: int = 0) -> list[str]:
    done = record(folder, name, *arguments, options=["--quiet"])
    assert done.returncode == status, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def hits(folder: Path) -> dict[str, int]:
    return {row["source"].strip(): row["hits"] for row in line_rows(folder / "run").values()}


# --- other interpreters ---------------------------------------------------------------------------


def test_other_interpreters_run_and_only_the_main_one_is_recorded(tmp_path: Path) -> None:
    assert recorded(tmp_path, "subinterpreters") == ["done"]
    assert shown(tmp_path / "run", "steps")["steps"] == 40
    assert "Subinterpreters ran and were not recorded." in page(tmp_path / "run", "summary")


# --- forks ----------------------------------------------------------------------------------------


def check_forks(folder: Path, threads: int, forks: int) -> None:
    count = threads * forks
    assert recorded(folder, "forks_in_threads", str(threads), str(forks)) == [
        f"{count} children, 0 failed"
    ]
    processes = [json.loads(file.read_text()) for file in folder.glob("run/proc-*/process.json")]
    assert len(processes) == count + 1


def test_children_forked_by_several_threads_at_once_work_and_end(tmp_path: Path) -> None:
    check_forks(tmp_path, 8, 3)


@pytest.mark.nightly
@pytest.mark.parametrize("time", range(50))
def test_children_of_many_threads_never_hang(time: int, tmp_path: Path) -> None:
    check_forks(tmp_path, 8, 10)


@pytest.mark.nightly
@needs.package("torch")
def test_loaders_that_fork_beside_busy_threads_never_hang(tmp_path: Path) -> None:
    assert recorded(tmp_path, "loaders_beside_threads", "20") == ["True"]
    assert shown(tmp_path / "run", "steps")["steps"] == 80


def test_a_child_whose_threads_all_begin_at_once_has_one_folder(tmp_path: Path) -> None:
    assert recorded(tmp_path, "threads_of_a_child", "10") == ["10 children, 0 failed"]
    assert len(list(tmp_path.glob("run/proc-*/events.bin"))) == 11


# --- threads, recursion and signals ---------------------------------------------------------------


def test_a_thread_may_run_python_in_its_last_destructors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_PERTURB_", "165")  # what is freed is overwritten
    assert recorded(tmp_path, "ends_late") == [str([45] * 20)]
    assert hits(tmp_path)["total += i"] % 10 == 0


def test_recursion_deeper_than_our_stack_ends_and_what_follows_is_counted(tmp_path: Path) -> None:
    done = record(
        tmp_path, "deep_recursion", "30000", options=["--quiet", "--exact", "--max-size", "8MB"]
    )
    assert (done.returncode, done.stdout.split()) == (0, ["RecursionError"]), done.stderr
    assert hits(tmp_path)["down(3)"] == 10
    assert hits(tmp_path)["return 0"] == 10  # without the one at the bottom
    assert "lines stopped" not in page(tmp_path / "run", "summary")


@pytest.mark.nightly
def test_recursion_of_a_million_levels_ends(tmp_path: Path) -> None:
    assert recorded(tmp_path, "deep_recursion", "1000000") == ["RecursionError"]
    assert hits(tmp_path)["return 0"] == 10  # without the one at the bottom


@pytest.mark.nightly
def test_what_signal_handlers_raise_while_we_work_reaches_the_script(tmp_path: Path) -> None:
    assert recorded(tmp_path, "raises_in_handlers", status=7) == ["True"]


@pytest.mark.parametrize("every", [211, pytest.param(7, marks=pytest.mark.nightly)])
def test_a_handler_that_raises_at_any_of_our_calls_reaches_the_script(
    every: int, tmp_path: Path
) -> None:
    """Counted calls instead of a timer: each time the same ones."""
    every = every if sys.version_info < (3, 12) else min(every, 5)  # it makes a tenth of the calls
    library = compiled(tmp_path, "alarming_evaluator.c")
    seen, *lost = recorded(tmp_path, "raises_at_each_call", str(library), str(every))
    assert int(seen) > 10
    assert [each for each in lost if each] == []


def test_what_a_handler_raises_arrives_where_the_interpreters_queue_is_full(
    tmp_path: Path,
) -> None:
    library = compiled(tmp_path, "alarming_evaluator.c")
    assert recorded(tmp_path, "raises_into_a_full_queue", str(library)) == ["raised"]


# --- what the sampler reads -----------------------------------------------------------------------


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="later versions need no evaluation function"
)
def test_an_evaluation_function_that_another_tool_has_set_stays(tmp_path: Path) -> None:
    library = compiled(tmp_path, "evaluator.c")
    assert recorded(tmp_path, "evaluated_by_another_tool", str(library)) == ["True", "True"]


def test_a_chain_of_frames_that_leads_back_to_itself_is_left(tmp_path: Path) -> None:
    library = compiled(tmp_path, "torn_chain.c", PACKAGE / "native" / "sampler" / "glimpse.c")
    code = f"import ctypes; print(ctypes.CDLL({str(library)!r}).frames_in_a_circle())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) <= 64


def compiled(folder: Path, name: str, *others: Path) -> Path:
    library = folder / f"{name}.so"
    sources = [Path(__file__).parent.parent / "programs" / "robustness" / name, *others]
    include = sysconfig.get_path("include")
    subprocess.run(
        [os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-O1", f"-I{include}",
         f"-I{PACKAGE / 'native'}", "-o", str(library), *map(str, sources)],
        check=True,
    )  # fmt: skip
    return library
