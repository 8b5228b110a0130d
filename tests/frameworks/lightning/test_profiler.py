"""stepscope.lightning.Profiler: its three reports, where they go, and that they add up."""

import pickle
import re
import sys
import threading
from pathlib import Path

import pytest

from frameworks.running import PROGRAMS, plain, run
from nights import nightly_but

pytest.importorskip("lightning", reason="Lightning is not installed for this Python")

from stepscope.errors import InputError
from stepscope.lightning import Profiler
from stepscope.lightning.advanced import Advanced
from stepscope.lightning.simple import Simple

PROGRAM = PROGRAMS / "lightning/chosen_profiler.py"
PACKAGES = ("lightning.pytorch", "pytorch_lightning")
Table = list[tuple[str, list[str]]]


class Clock:
    """Advances by hand."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def rows_of(report: str) -> Table:
    """The label with its indent, and the other cells."""
    rows = []
    for line in report.splitlines():
        if line.startswith("|"):
            label, *cells = line.strip("|").split("|")
            rows.append((label[2:].rstrip(), [cell.strip() for cell in cells]))
    return rows


def pass_time(clock: Clock, seconds: float) -> None:
    clock.now_ns += int(seconds * 1e9)


def within(simple: Simple, clock: Clock, name: str, seconds: float) -> None:
    simple.start(name)
    pass_time(clock, seconds)
    simple.stop(name)


def test_a_parent_is_its_own_time_and_that_of_its_children() -> None:
    clock = Clock()
    simple = Simple(clock_ns=clock)
    pass_time(clock, 1)
    for _ in range(2):
        simple.start("batch")
        pass_time(clock, 1)
        simple.start("forward")
        pass_time(clock, 2)
        within(simple, clock, "hook", 0.5)
        simple.stop("forward")
        within(simple, clock, "hook", 0.25)
        pass_time(clock, 0.5)
        simple.stop("batch")
    assert rows_of(simple.text()) == [
        (
            "Action",
            ["Mean duration (s)", "Num calls", "Total time (s)", "Percentage %", "Own time (s)"],
        ),
        ("Total", ["-", "8", "9.5", "100 %", "1.0"]),
        ("batch", ["4.25", "2", "8.5", "89.474", "3.0"]),
        ("  forward", ["2.5", "2", "5.0", "52.632", "4.0"]),
        ("    hook", ["0.5", "2", "1.0", "10.526", "1.0"]),
        ("  hook", ["0.25", "2", "0.5", "5.2632", "0.5"]),
        ("(outside all actions)", ["-", "-", "1.0", "10.526", "1.0"]),
    ]


def test_an_action_that_something_raised_out_of_ends_with_the_one_around() -> None:
    clock = Clock()
    simple = Simple(clock_ns=clock)
    simple.start("batch")
    simple.start("optimizer")
    pass_time(clock, 1)
    simple.stop("batch")
    simple.stop("never begun")
    within(simple, clock, "batch", 2.0)
    rows = {label.strip(): cells for label, cells in rows_of(simple.text())}
    assert rows["batch"][1:3] == ["2", "3.0"]
    assert rows["optimizer"][1:3] == ["1", "1.0"]


def work(turns: int) -> int:
    return sum(number % 7 for number in range(turns))


def before() -> int:
    return work(20_000)


def inside() -> int:
    return work(10_000)


def after() -> int:
    return work(30_000)


def parts_of(report: str) -> dict[str, str]:
    names = re.split(r"Profile stats for: (.*)\n", report)
    return dict(zip(names[1::2], names[2::2], strict=True))


def table_of(part: str) -> dict[str, tuple[int, float, float]]:
    """Function to its calls, own and cumulative time."""
    found = {}
    for line in part.splitlines():
        cells = line.split(None, 5)
        if len(cells) == 6 and cells[0].split("/")[0].isdigit() and cells[1][:1].isdigit():
            calls = int(cells[0].split("/")[0])
            name = re.sub(r".*\((\w+)\)$", r"\1", cells[5])
            found[name] = calls, float(cells[1]), float(cells[3])
    return found


def test_functions_belong_to_the_innermost_action_and_nested_ones_are_rows() -> None:
    advanced = Advanced(100)
    for _ in range(3):
        advanced.start("outer")
        before()
        advanced.start("inner")
        inside()
        advanced.stop("inner")
        after()
        advanced.stop("outer")
    parts = parts_of(advanced.text())
    outer, inner = table_of(parts["outer"]), table_of(parts["inner"])
    assert {name: outer[name][0] for name in ("before", "after", "work")} == {
        "before": 3, "after": 3, "work": 6,
    }  # fmt: skip
    assert inner["inside"][0] == inner["work"][0] == 3
    assert "inside" not in outer
    assert "before" not in inner
    assert outer["{action inner}"][0] == 3
    whole = re.search(r"in ([\d.]+) seconds", parts["outer"])
    assert whole is not None
    assert sum(row[1] for row in outer.values()) == pytest.approx(float(whole[1]), abs=0.01)


def test_the_profilers_own_calls_are_in_no_table() -> None:
    advanced = Advanced(100)
    advanced.start("outer")
    threading.get_ident()
    advanced.stop("outer")
    rows = table_of(parts_of(advanced.text())["outer"])
    assert {name: row[0] for name, row in rows.items()} == {
        "{built-in method _thread.get_ident}": 1
    }


def test_another_profiler_at_work_is_said_and_nothing_breaks() -> None:
    advanced = Advanced(20)
    sys.setprofile(lambda *_: None)
    try:
        advanced.start("outer")
        advanced.start("inner")
        advanced.stop("inner")
        advanced.stop("outer")
    finally:
        sys.setprofile(None)
    assert "Another profiling tool is already active" in advanced.text()


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"no mode 'simpel'\. There are: simple, advanced, pytorch"
    ):
        Profiler("simpel")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("mode", ["simple", "advanced", "pytorch"])
def test_a_profiler_can_be_sent_to_another_process(mode: str, tmp_path: Path) -> None:
    profiler = Profiler(mode, dirpath=tmp_path, filename="perf", line_count_restriction=3)  # type: ignore[arg-type]  # a mode
    with profiler.profile("something"):
        again = pickle.loads(pickle.dumps(profiler))
    assert (again.mode, again.dirpath, again.filename) == (mode, tmp_path, "perf")


def test_the_report_is_printed_and_written_for_each_stage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    profiler = Profiler(filename="perf")
    for stage, action in (("fit", "training"), ("test", "testing")):
        profiler.setup(stage=stage, log_dir=str(tmp_path))
        with caplog.at_level("INFO"), profiler.profile(action):
            pass
        with caplog.at_level("INFO"):
            profiler.describe()
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(written) == ["fit-perf.txt", "test-perf.txt"]
    assert [record.message for record in caplog.records] == [
        written[name] for name in sorted(written)
    ]
    assert "training" in written["fit-perf.txt"]
    assert "training" not in written["test-perf.txt"]
    assert "testing" in profiler.summary()


# --- with trainers --------------------------------------------------------------------------------


@pytest.mark.parametrize("package", nightly_but(PACKAGES[:1], PACKAGES))
def test_the_simple_report_has_the_calls_that_lightnings_own_has(
    package: str, tmp_path: Path
) -> None:
    run(sys.executable, PROGRAM, package, "ours", "simple", tmp_path, "ours")
    run(sys.executable, PROGRAM, package, "lightning", "simple", tmp_path, "theirs")
    ours: dict[str, int] = {}
    for label, cells in rows_of((tmp_path / "fit-ours.txt").read_text()):
        if cells[1].isdigit():
            ours[label.strip()] = ours.get(label.strip(), 0) + int(cells[1])
    theirs = {}
    for label, cells in rows_of((tmp_path / "fit-theirs.txt").read_text()):
        if cells[1].isdigit():
            theirs[label] = int(cells[1])
    assert ours == theirs
    assert ours["run_training_batch"] == 24


@pytest.mark.nightly
def test_all_modes_train_as_without_and_print_their_report(tmp_path: Path) -> None:
    alone = plain(PROGRAM, PACKAGES[0], "lightning", "simple")
    assert alone.startswith("0x")
    for mode in ("simple", "advanced", "pytorch"):
        done = run(sys.executable, PROGRAM, PACKAGES[0], "ours", mode, tmp_path, mode)
        assert done.stdout == alone
        assert (tmp_path / f"fit-{mode}.txt").read_text() in done.stderr


@pytest.mark.nightly
def test_operators_are_those_of_three_steps_after_two(tmp_path: Path) -> None:
    """Three linear layers in a forward pass: 9 calls, in torch's own table."""
    run(sys.executable, PROGRAM, PACKAGES[0], "ours", "pytorch", tmp_path, "perf")
    report = (tmp_path / "fit-perf.txt").read_text()
    assert "operators of training steps 3 to 5" in report
    training = report[: report.index("operators of validation steps")]
    rows = {line.split()[0]: line.split()[-1] for line in training.splitlines() if "aten::" in line}
    assert rows["aten::addmm"] == "9"
    assert re.search(r"Name +Self CPU % +Self CPU +CPU total % +CPU total", report)
    assert report.count("# of Calls") == 2  # training, validation


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["advanced", "pytorch"])
def test_it_works_under_stepscope_run_too(mode: str, tmp_path: Path) -> None:
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    done = run(*stepscope, PROGRAM, PACKAGES[0], "ours", mode, tmp_path, "perf")
    assert done.stdout == plain(PROGRAM, PACKAGES[0], "lightning", "simple")
    report = (tmp_path / "fit-perf.txt").read_text()
    assert (
        "run_training_batch" if mode == "advanced" else "operators of training steps 3 to 5"
    ) in report
