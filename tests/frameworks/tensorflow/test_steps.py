"""TensorFlow's own loops: the right steps, phases that add up, results to the last bit."""

import json
import statistics
import sys
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, borrowed, run, show
from frameworks.tf_runs import categories, notes_of, several, span_names, steps_of

needs.require("tensorflow")

STEPS = {
    "eager": 24, "gan": 30, "function": 40, "retracing": 12, "reloading": 25, "by_hand": 30,
    "eager_then_graph": 35,
}  # fmt: skip
NAMES = list(STEPS)


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    return several("tf", NAMES)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The runs' folder, and what the programs printed."""
    out = tmp_path_factory.mktemp("runs")
    return out, several("tf", NAMES, out)


@pytest.fixture(scope="module")
def runs(recorded: tuple[Path, dict[str, str]]) -> Path:
    return recorded[0]


@pytest.mark.parametrize("name", NAMES)
def test_losses_are_the_same_to_the_last_bit(
    recorded: tuple[Path, dict[str, str]], printed: dict[str, str], name: str
) -> None:
    assert len(printed[name].split()) >= STEPS[name]
    assert recorded[1][name] == printed[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_right_number_of_steps(runs: Path, name: str) -> None:
    assert steps_of(runs / name)["steps"] == STEPS[name]


@pytest.mark.parametrize("name", NAMES)
def test_phases_sum_to_each_step(runs: Path, name: str) -> None:
    for step in steps_of(runs / name)["each"]:
        assert sum(step["phases"].values()) == pytest.approx(step["duration_ns"], rel=0.005)


@pytest.mark.parametrize("name", ["eager", "gan", "function", "by_hand"])
def test_little_is_left_unexplained(runs: Path, name: str) -> None:
    each = [step for step in steps_of(runs / name)["each"] if step["measured"]]
    shares = [step["phases"].get("python", 0) / step["duration_ns"] for step in each]
    assert statistics.median(shares) <= 0.1


def test_an_eager_loop_has_all_its_phases(runs: Path) -> None:
    expected = {"input", "forward", "backward", "optimizer", "sync", "logging"}
    assert expected | {"evaluation", "checkpoint"} <= categories(runs / "eager")
    assert "compute" not in categories(runs / "eager")


def test_a_function_that_does_it_all_is_compute(runs: Path) -> None:
    assert {"input", "compute", "evaluation"} <= categories(runs / "function")
    assert not {"forward", "backward", "optimizer"} & categories(runs / "function")
    assert steps_of(runs / "function")["anchor"] == "train_step()"
    assert steps_of(runs / "by_hand")["anchor"] == "step()"


def test_samples_come_from_the_batches(runs: Path) -> None:
    for name in ("eager", "gan", "function", "reloading", "by_hand"):
        rate = steps_of(runs / name)["rate"]
        assert rate["samples_per_s"] == pytest.approx(32 * rate["per_s"]), name


def test_why_a_function_is_traced_again(runs: Path) -> None:
    """Once each, at the function's own line."""
    source = (PROGRAMS / "tf/retracing.py").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "@tf.function" in text)
    where = f"tf.function train_step (retracing.py:{line})"
    noted = [note for note in notes_of(runs / "retracing") if note.startswith("Traced again: ")]
    assert [note.removeprefix("Traced again: ") for note in noted] == [
        f"{where}; again because images has the shape (7, 64), had (32, 64), labels has the shape "
        "(7,), had (32,).",
        *(
            f"{where}; again because the Python value number is {number}, was 0."
            for number in range(1, 5)
        ),
    ]
    assert f"{where}" in span_names(runs / "retracing")
    assert not [note for note in notes_of(runs / "function") if "Traced again" in note]


def test_a_library_may_apply_tf_function_as_often_as_it_likes(tmp_path: Path) -> None:
    """To the script it is a hint that a graph is made in every step."""
    library = borrowed(tmp_path, "def doubled(x):\n    return 2 * x\n")
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", tmp_path / "run")
    run(*stepscope, PROGRAMS / "tf/applied_again.py", PYTHONPATH=library)
    where = "tf.function tripled (applied_again.py:7)"
    assert notes_of(tmp_path / "run") == [
        f"Traced again: {where}; again because tf.function was applied to it again."
    ]


def test_reading_the_data_again_is_no_part_of_the_passes(runs: Path) -> None:
    shares = {row["category"]: row["share"] for row in steps_of(runs / "reloading")["breakdown"]}
    assert shares.get("prepare", 0) + shares.get("python", 0) + shares.get("files", 0) > 0.1


def test_operators_are_recorded_after_warm_up(runs: Path) -> None:
    """One window of three steps in a loop; a second one only if that is cheap."""
    for name in ("eager", "gan", "function", "reloading", "by_hand"):
        (folder,) = (runs / name).glob("proc-*")
        assert (folder / "ops-1.xplane.pb").stat().st_size > 1000
        assert not [path for path in folder.iterdir() if path.is_dir()]  # nothing left behind


def test_nothing_failed_in_our_hooks(runs: Path) -> None:
    for name in NAMES:
        assert not [note for note in notes_of(runs / name) if "Traced again" not in note], name


@pytest.mark.nightly
def test_run_sees_what_the_block_sees_and_nothing_more_is_printed(tmp_path: Path) -> None:
    """`stepscope run`, from the import of TensorFlow on. Its profiler, running for us, writes
    nothing to the script's own stderr."""
    program, folder = PROGRAMS / "tf/function.py", tmp_path / "run"
    alone = run(sys.executable, program)
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", folder)
    beside = run(*stepscope, program)
    assert beside.stdout == alone.stdout
    assert "rofiler" not in beside.stderr
    assert len(beside.stderr.splitlines()) == len(alone.stderr.splitlines())
    assert list(folder.glob("proc-*/ops-1.xplane.pb"))
    assert steps_of(folder)["steps"] == STEPS["function"]
    assert {"input", "compute", "evaluation"} <= categories(folder)
    summary = json.loads(show(folder, "summary", "--json"))
    parts = {part["category"]: part["ns"] for part in summary["parts"]}
    assert parts["imports"] > 0
    assert sum(parts.values()) == pytest.approx(summary["wall_ns"], rel=0.001)
