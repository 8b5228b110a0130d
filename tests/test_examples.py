"""The examples do what the documentation says, plain and under `stepscope run`."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import asking
import needs

EXAMPLES = Path(__file__).parent.parent / "examples"
TRAIN = EXAMPLES / "mnist_numpy" / "train.py"
STEPS = 12


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(*arguments: str | Path, cwd: Path) -> str:
    return run(sys.executable, *arguments, cwd=cwd)


def stepscope(*arguments: str | Path, cwd: Path) -> str:
    return python("-m", "stepscope", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set of the same form: each label has its own bright row."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, size=2_000).astype(np.uint8)
    images = rng.integers(0, 60, size=(2_000, 28, 28)).astype(np.uint8)
    images[np.arange(2_000), labels * 2 + 4] = 255
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez_compressed(path, images=images, labels=labels)
    return path


def losses(output: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"loss ([0-9.]+)", output)]


def test_the_example_learns(data: Path, tmp_path: Path) -> None:
    output = python(TRAIN, "--data", data, "--steps", "60", cwd=tmp_path)
    assert losses(output)[-1] < losses(output)[0] / 2
    found = re.search(r"accuracy ([0-9.]+)%", output)
    assert found is not None
    assert float(found[1]) > 80


def test_the_fixed_example_computes_the_same_losses(data: Path, tmp_path: Path) -> None:
    arguments = ("--data", data, "--steps", "12")
    slow = python(TRAIN, *arguments, cwd=tmp_path)
    fixed = python(TRAIN.with_name("train_fixed.py"), *arguments, cwd=tmp_path)
    assert fixed == slow


def test_the_data_set_is_made_of_real_digits(tmp_path: Path) -> None:
    needs.require("sklearn")
    out = tmp_path / "made" / "digits.npz"
    python(TRAIN.with_name("make_data.py"), "--count", "200", "--out", out, cwd=tmp_path)
    with np.load(out) as made:
        images, labels = made["images"], made["labels"]
    assert images.shape == (200, 28, 28)
    assert images.dtype == np.uint8
    assert images.max() == 255
    assert set(labels) == set(range(10))


@pytest.fixture(scope="module")
def recorded(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's run folder."""
    folder = tmp_path_factory.mktemp("runs")
    arguments = ("--data", data, "--steps", str(STEPS))
    stepscope("run", "-o", folder / "run", TRAIN, *arguments, cwd=folder)
    return folder / "run"


def test_a_recorded_example_says_what_the_plain_one_says(data: Path, tmp_path: Path) -> None:
    arguments = ("--data", data, "--steps", str(STEPS))
    plain = python(TRAIN, *arguments, cwd=tmp_path)
    assert stepscope("run", TRAIN, *arguments, cwd=tmp_path) == plain


def test_the_report_counts_the_steps_of_the_example(recorded: Path) -> None:
    answer = asking.answer(recorded, "steps")
    assert answer["steps"] == STEPS


def test_the_report_names_the_file_that_is_read_in_every_step(recorded: Path, data: Path) -> None:
    answer = asking.answer(recorded, "files")
    row = next(row for row in answer["files"] if row["path"] == str(data))
    assert row["opens"] == STEPS + 2  # once before the loop, once for the accuracy
    assert row["steps"] == STEPS
    assert row["location"]["function"] == "get_dataset"


def test_the_report_puts_the_time_on_the_line_that_reads(recorded: Path) -> None:
    answer = asking.answer(recorded, "lines")
    reader = next(each for each in answer["functions"] if each["function"] == "get_dataset")
    hits = {row["source"].strip(): row["hits"] for row in reader["lines"] if row["hits"]}
    assert hits['images = data["images"]'] == STEPS + 2


def test_marked_steps_and_regions_are_reported(tmp_path: Path) -> None:
    stepscope("run", "-o", "run", EXAMPLES / "marks.py", cwd=tmp_path)
    steps = asking.answer(tmp_path / "run", "steps")
    regions = asking.answer(tmp_path / "run", "regions")
    assert steps["steps"] == 30
    assert {row["name"]: row["calls"] for row in regions["regions"]} == {"forces": 30, "move": 30}


def test_a_wrapped_loader_makes_the_steps(tmp_path: Path) -> None:
    stepscope("run", "-o", "run", EXAMPLES / "loader.py", cwd=tmp_path)
    steps = asking.answer(tmp_path / "run", "steps")
    assert steps["steps"] == 40


def test_one_block_of_a_program_can_be_recorded(tmp_path: Path) -> None:
    assert python(EXAMPLES / "one_block.py", "run", cwd=tmp_path) == "1.414214\n"
    answer = asking.answer(tmp_path / "run", "lines")
    fit = next(each for each in answer["functions"] if each["function"] == "fit")
    assert max(row["hits"] for row in fit["lines"]) >= 50 * 2_000


def test_one_changed_import_replaces_line_profiler(tmp_path: Path) -> None:
    output = python(EXAMPLES / "line_by_line.py", cwd=tmp_path)
    assert output.startswith("181\n")
    assert "Line #" in output
    hits = re.search(r"(\d+)\s.*steps \+= 1", output)
    assert hits is not None
    assert int(hits[1]) > 0


# --- the slow trainings of `make ladder` ----------------------------------------------------------


@pytest.fixture(scope="module")
def pictures(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    words = ("--digits", data, "--out", folder, "--count", "128")
    python(EXAMPLES / "ladder" / "make_pictures.py", *words, cwd=folder)
    return folder


def test_a_picture_of_the_ladder_is_a_text_file_named_after_its_digit(
    data: Path, pictures: Path
) -> None:
    with np.load(data) as made:
        images, labels = made["images"], made["labels"]
    files = sorted(pictures.iterdir())
    assert len(files) == 128
    assert files[5].name == f"0005_{labels[5]}.txt"
    assert (np.loadtxt(files[5]) == images[5]).all()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("script", "needed"), [("gan_torch", "torch"), ("classifier_tf", "tensorflow")]
)
def test_the_slow_trainings_learn(script: str, needed: str, pictures: Path, tmp_path: Path) -> None:
    needs.require(needed)
    words = ("--data", pictures, "--epochs", "12")
    output = python(EXAMPLES / "ladder" / f"{script}.py", *words, cwd=tmp_path)
    found = [float(loss) for loss in re.findall(r"(?:loss|discriminator) ([0-9.]+)", output)]
    assert len(found) == 12
    assert found[-1] < found[0]


@pytest.mark.nightly
def test_the_profiler_for_lightning_writes_a_trace_that_show_opens(tmp_path: Path) -> None:
    needs.require("lightning")
    python(EXAMPLES / "lightning_profiler.py", "pytorch", cwd=tmp_path)
    assert "steps 3 to 5" in (tmp_path / "lightning_logs/version_0/fit-perf.txt").read_text()
    assert "Steps  3 steps" in stepscope("show", "lightning_logs", cwd=tmp_path)
