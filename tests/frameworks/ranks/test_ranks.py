"""Several ranks: which one waits for which, for what, and that training is unchanged."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.rank_runs import DDP, asked, line_of, processes, recorded, unrecorded
from frameworks.running import run, show
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, open_run
from stepscope.views import VIEWS

needs.module("torch")


@pytest.fixture(scope="module")
def slow_rank_1(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """(run folder, what the script printed)."""
    folder = tmp_path_factory.mktemp("slow") / "run"
    return folder, recorded("train.py", folder, "1").stdout


@pytest.fixture(scope="module")
def all_collectives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("all") / "run"
    return folder, recorded("collectives.py", folder).stdout


def calls(process: ProcessData) -> list[tuple[str, int, str]]:
    """(name, number, group) of each communication span, in order of time."""
    spans = process.spans.of(SpanCategory.COMMUNICATION).by_start()
    names = {id: name.name for id, name in process.names.spans.items()} | {0: ""}
    columns = spans.name.tolist(), spans.number.tolist(), spans.group.tolist()
    return [
        (names[name], number, names[group]) for name, number, group in zip(*columns, strict=True)
    ]


def test_both_ranks_are_in_one_run(slow_rank_1: tuple[Path, str]) -> None:
    folder, _ = slow_rank_1
    assert processes(folder) == [("rank", 0), ("rank", 1)]
    assert [(row["rank"], row["steps"]) for row in asked(folder, "ranks")["ranks"]] == [
        (0, 30),
        (1, 30),
    ]


def test_losses_are_the_same_to_the_last_bit(slow_rank_1: tuple[Path, str], tmp_path: Path) -> None:
    assert slow_rank_1[1] == unrecorded("train.py", "1", folder=tmp_path)


def test_the_slow_rank_is_found_with_its_line(slow_rank_1: tuple[Path, str]) -> None:
    found = asked(slow_rank_1[0], "ranks")["straggler"]
    assert found["rank"] == 1
    assert found["location"]["line"] == line_of("train.py", "# the slow line")
    assert found["location"]["function"] == "augmented"


def test_the_other_rank_waits_for_it_in_ddps_own_reduction(slow_rank_1: tuple[Path, str]) -> None:
    folder, _ = slow_rank_1
    answer = asked(folder, "ranks")
    quick, slow = answer["ranks"]
    assert quick["waiting_ms"] > 25 > slow["waiting_ms"]  # it sleeps 30 ms in each step
    assert slow["own_ms"] > 30
    assert answer["skew_ms"] > 25
    for row in answer["ranks"]:
        assert row["own_ms"] + row["communication_ms"] == pytest.approx(row["step_ms"])
        assert row["waiting_ms"] <= row["communication_ms"] * 1.01
    assert asked(folder, "steps")["bound"] == "communication"


def test_reductions_have_the_same_numbers_on_all_ranks(slow_rank_1: tuple[Path, str]) -> None:
    of_ranks = [calls(process) for process in open_run(slow_rank_1[0]).processes]
    for name in ("reduction of gradients", "broadcast of buffers"):
        numbers = [{call for call in of_rank if call[0] == name} for of_rank in of_ranks]
        assert numbers[0] == numbers[1]
        assert len(numbers[0]) >= 29  # the last reduction is known only to a next forward


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_one_rank(slow_rank_1: tuple[Path, str], view: str) -> None:
    folder, _ = slow_rank_1
    pages = [show(folder, view, "--rank", rank) for rank in ("0", "1")]
    assert all(page.strip() for page in pages)


def test_steps_of_a_rank_are_its_own(slow_rank_1: tuple[Path, str]) -> None:
    def prepare_ms(rank: str) -> float:
        rows = asked(slow_rank_1[0], "steps", "--rank", rank)["breakdown"]
        return float(sum(row["ms"] for row in rows if row["category"] == "prepare"))

    assert prepare_ms("1") > 30 > prepare_ms("0")


def test_a_rank_that_is_not_there_is_named(slow_rank_1: tuple[Path, str]) -> None:
    asked_for = (sys.executable, "-m", "stepscope", "show", slow_rank_1[0], "ranks", "--rank", "7")
    done = run(*asked_for, check=False)
    assert done.returncode == 2
    assert "has no rank 7" in done.stderr


def test_collectives_that_the_script_calls_itself(tmp_path: Path) -> None:
    recorded("own_reduction.py", tmp_path / "run")
    found = asked(tmp_path / "run", "ranks")
    assert found["straggler"]["rank"] == 0
    assert found["straggler"]["location"]["line"] == line_of("own_reduction.py", "# the slow line")
    assert found["ranks"][1]["waiting_ms"] > 15 > found["ranks"][0]["waiting_ms"]
    # Four are begun together and waited for one by one: the same moment is waited for once.
    assert found["ranks"][1]["waiting_ms"] < found["ranks"][1]["step_ms"]


def test_results_of_all_collectives_are_the_same(
    all_collectives: tuple[Path, str], tmp_path: Path
) -> None:
    assert all_collectives[1] == unrecorded("collectives.py", folder=tmp_path)


def test_every_collective_is_recorded(all_collectives: tuple[Path, str]) -> None:
    first, second = (calls(process) for process in open_run(all_collectives[0]).processes)
    names = {name for name, _, _ in first}
    assert {
        "init_process_group", "all_reduce", "broadcast", "all_gather", "all_gather_into_tensor",
        "reduce_scatter", "reduce_scatter_tensor", "all_to_all_single", "reduce", "gather",
        "scatter", "send", "barrier",
    } <= names  # fmt: skip
    assert "recv" in {name for name, _, _ in second}
    numbered = [{call for call in of_rank if call[1]} for of_rank in (first, second)]
    assert numbered[0] == numbered[1]
    assert len({group for _, _, group in numbered[0]}) == 2  # all ranks, and a separate group


def test_a_call_and_the_waiting_for_it_are_one_collective(
    all_collectives: tuple[Path, str],
) -> None:
    process = open_run(all_collectives[0]).processes[0]
    reduced = [call for call in calls(process) if call[0] == "all_reduce"]
    assert len(reduced) >= 4  # one that waits at once, one that is waited for later
    assert all(reduced.count(call) == 2 for call in set(reduced) if call[1])


@pytest.mark.nightly
def test_graphs_with_collectives_are_the_same(tmp_path: Path) -> None:
    without = unrecorded("compiled.py", folder=tmp_path)
    recording = recorded("compiled.py", tmp_path / "run")
    assert recording.stdout == without
    assert "UserWarning" not in recording.stderr


@pytest.mark.parametrize("arguments", [(), ("wait",)])
def test_errors_look_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    program = DDP / "raises.py"
    without = run(sys.executable, program, *arguments, check=False)
    words = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    recording = run(*words, program, *arguments, check=False)
    assert without.returncode == recording.returncode == 1
    assert _unaddressed(recording.stderr) == _unaddressed(without.stderr)
    assert "Error" in without.stderr


def _unaddressed(text: str) -> str:
    return re.sub(r"0x[0-9a-f]{8,}", "…", text)


def test_nothing_is_left_after_a_recorded_block(tmp_path: Path) -> None:
    watched, left = run(sys.executable, DDP / "undone.py", tmp_path / "run").stdout.splitlines()
    assert int(watched) > 20
    assert left == "[]"


def test_a_run_without_ranks_says_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print(1)\n")
    run(sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run", script)
    answer: dict[str, Any] = asked(tmp_path / "run", "ranks")
    assert answer["ranks"] == []
    assert answer["straggler"] is None
    assert "no ranks" in answer["reason"]
