"""The tutorials can be followed: their commands run, their scripts differ by what they tell."""

import dataclasses
import difflib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import needs

ROOT = Path(__file__).parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = sorted(page for page in TUTORIALS.glob("*.md") if page.name != "README.md")
NEEDED = {
    "gan": ("torch", "tensorflow"),
    "ladder": ("tensorflow",),
    "starving": ("tensorflow",),
    "vae": ("torch",),
    "callbacks": ("lightning", "hydra"),
    "cluster": ("torch",),
    "ci-gate": (),
}
# What makes a tutorial's scripts short.
SHORT = {
    "gan": "--steps 12",
    "ladder": "--steps 12",
    "starving": "--steps 16 --epochs 2",
    "vae": "--count 1200 --epochs 1",
    "callbacks": "count=640",
    "cluster": "--count 1200 --epochs 1",
    "ci-gate": "--steps 40 --width 32",
}
PAIRS = [
    ("gan_torch/train", "gan_torch/train_fixed"),
    ("gan_tf/train", "gan_tf/train_fixed"),
    ("ladder_tf/rung_1_eager", "ladder_tf/rung_2_data"),
    ("ladder_tf/rung_2_data", "ladder_tf/rung_3_function"),
    ("ladder_tf/rung_3_function", "ladder_tf/rung_4_xla"),
    ("ladder_tf/rung_4_xla", "ladder_tf/rung_5_mixed_precision"),
    ("starving_keras/rung_1_serial", "starving_keras/rung_2_autotune"),
    ("starving_keras/rung_2_autotune", "starving_keras/rung_3_mixed_precision"),
    ("vae_torch/train", "vae_torch/train_fixed"),
    ("vae_torch/train", "vae_torch/train_regions"),
    ("callbacks_lightning/train", "callbacks_lightning/train_fixed"),
    ("cluster_torch/train", "cluster_torch/train_fixed"),
    ("ci_gate/train", "ci_gate/train_slower"),
]
SCRIPT_IS_RUN = re.compile(
    r"^(?:python|torchrun|bash|stepscope (?:run|try))\b.*examples/(?!\S*make_)"
)


def made_by(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


outputs = made_by("outputs")


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """The examples with a small data set: each label has its own bright row."""
    outputs.workshop(tmp_path / "work")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, size=1_500).astype(np.uint8)
    images = rng.integers(0, 60, size=(1_500, 28, 28)).astype(np.uint8)
    images[np.arange(1_500), labels * 2 + 4] = 255
    data = tmp_path / "work" / "examples" / "data"
    data.mkdir(exist_ok=True)
    np.savez_compressed(data / "digits.npz", images=images, labels=labels)
    return tmp_path / "work"


def shortened(command: Any, page: str) -> Any:
    line = command.line.replace("--rounds 3 --steps 60 --budget 4", "--rounds 2 --budget 30")
    line = line.replace("cache-result,tf-function,tf-xla,tf-mixed-precision", "tf-function")
    if SCRIPT_IS_RUN.match(line):
        line = f"{line} {SHORT[page]}"
    return dataclasses.replace(command, line=line)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.nightly) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_every_command_of_a_tutorial_runs(page: Path, workshop: Path) -> None:
    for name in NEEDED[page.stem]:
        needs.require(name)
    commands = [shortened(each, page.stem) for each in outputs.commands_of(page)]
    assert len(commands) >= 3
    for command in commands:
        if command.needs_traces and not outputs.TRACES.exists():
            continue
        if "--fail-over" in command.line:
            continue  # whether so few steps stand out from the noise is chance: see below
        printed = outputs.run(command, workshop)
        assert outputs.part_of(printed, command) or "run --quiet" in command.line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_shows_what_its_commands_print(page: Path) -> None:
    """None of its blocks is empty, and each begins with the command that made it."""
    for match in outputs.MARK.finditer(page.read_text()):
        if match["kind"] == "output of" and match["fence"] == "console":
            command = outputs.parsed(match["what"])
            assert match["old"].splitlines()[1] == f"$ {command.line}"
            assert len(match["old"].splitlines()) > 3, command.line
        if match["kind"] == "figures of":
            assert match["old"].count("\n") == 2 + len(match["what"].split())
        if match["kind"] == "machine":
            assert match["old"].startswith("The output is from ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_shows_how_its_scripts_differ_today(page: Path) -> None:
    for match in outputs.MARK.finditer(page.read_text()):
        if match["fence"] == "diff":
            assert match["old"] == outputs.fenced(match, ROOT), "make tutorials writes it anew"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_a_tutorial_names_is_there(page: Path) -> None:
    named = re.findall(r"\bexamples/[\w/-]+\.\w+", page.read_text())
    assert named
    assert not [path for path in named if not (ROOT / path).exists()]


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=lambda name: name)
def test_the_scripts_of_a_story_differ_by_little(before: str, after: str) -> None:
    """Beside the sentences at their tops."""
    texts = [(ROOT / "examples" / f"{name}.py").read_text() for name in (before, after)]
    first, second = (text.split('"""', 2)[2].splitlines() for text in texts)
    changed = [line for line in difflib.ndiff(first, second) if line[0] in "+-"]
    assert 0 < len(changed) < 40


def test_every_script_of_a_story_says_its_step_time_and_throughput() -> None:
    scripts = {ROOT / "examples" / f"{name}.py" for pair in PAIRS for name in pair}
    silent = [
        script.name
        for script in scripts
        if not ("step_time {" in script.read_text() and " img/s" in script.read_text())
    ]
    assert not silent


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("needed", "before", "after", "words"),
    [
        ("torch", "gan_torch/train", "gan_torch/train_fixed", "--steps 12"),
        ("tensorflow", "gan_tf/train", "gan_tf/train_fixed", "--steps 12"),
        ("tensorflow", "ladder_tf/rung_1_eager", "ladder_tf/rung_2_data", "--steps 12"),
        ("torch", "vae_torch/train", "vae_torch/train_fixed", "--count 1200 --epochs 1"),
        ("numpy", "ci_gate/train", "ci_gate/train_slower", "--steps 40"),
    ],
)
def test_the_fixed_script_trains_the_same(
    needed: str, before: str, after: str, words: str, workshop: Path
) -> None:
    needs.require(needed)
    both = [
        outputs.run(outputs.Command(f"python examples/{name}.py {words}"), workshop)
        for name in (before, after)
    ]
    losses = [re.findall(r"(?:loss|discriminator|generator) ([0-9.]+)", text) for text in both]
    assert losses[0]
    assert losses[0] == losses[1]


# --- the workflow of the gate in CI ---------------------------------------------------------------

TRAINING = """
import time
for step in range(60):
    time.sleep({seconds})
"""


def git(folder: Path, *words: str) -> None:
    names = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone, whose origin has a training on its main branch."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / "train.py").write_text(TRAINING.format(seconds=0.01))
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "A training")
    git(tmp_path, "clone", "-q", str(origin), "change")
    return tmp_path / "change"


def steps_of_the_workflow() -> list[str]:
    """The commands of `record both sides` and of what follows, as bash gets them."""
    text = (ROOT / "examples" / "ci_gate" / "training-speed.yml").read_text()
    blocks = re.findall(r"^ +run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)", text, re.MULTILINE)
    commands = [block or line for block, line in blocks]
    assert commands[0].startswith("pip install")
    return commands[1:]


def gate(folder: Path, limit: str) -> list[int]:
    """The statuses of the workflow's steps."""
    environment = {
        **outputs.environment(),
        "SCRIPT": "train.py",
        "STEPS": "50",
        "ROUNDS": "1",
        "LIMIT": limit,
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"),
    }
    return [
        subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        ).returncode
        for command in steps_of_the_workflow()
    ]


@pytest.mark.nightly
def test_the_workflow_stops_a_change_that_makes_the_training_slower(repository: Path) -> None:
    (repository / "train.py").write_text(TRAINING.format(seconds=0.03))
    assert gate(repository, "5%") == [0, 0, 1]
    assert "slower" in (repository.parent / "summary.md").read_text()


@pytest.mark.nightly
def test_the_workflow_lets_a_faster_training_pass(repository: Path) -> None:
    (repository / "train.py").write_text(TRAINING.format(seconds=0.003))
    assert gate(repository, "5%") == [0, 0, 0]
