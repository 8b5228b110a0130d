"""JAX: the right steps and phases on loops of many shapes, with unchanged results."""

import functools
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import needs
from frameworks.running import PROGRAMS, run, show
from stepscope.analyze.answers.steps import steps
from stepscope.store.reader import open_run

needs.module("jax")
needs.module("optax")
needs.module("flax")

JAX = PROGRAMS / "jax"
# The compiled code need not be fast.
QUICKLY = "--xla_backend_optimization_level=0"
STEPS = {
    "by_hand": 48,
    "with_optax": 40,
    "flax_linen": 30,
    "flax_nnx": 30,
    "without_jit": 25,
    "without_anything": 20,
    "jitted_gradients": 32,
    "new_shapes": 6,
    "jit_in_loop": 6,
    "static_argument": 6,
    "scanned": 15,
    "only_a_utility": 30,
    "waits": 10,
    "torch_loader": 24,
    "gan": 20,
    "accumulated": 20,
}


# What other programs show as well.
LONG = {
    "flax_linen", "without_anything", "jitted_gradients", "scanned", "torch_loader", "gan",
    "accumulated",
}  # fmt: skip
WITH_TORCH = "torch_loader"
MARKS = {name: [pytest.mark.nightly] for name in LONG}
MARKS[WITH_TORCH].append(needs.package("torch"))
ALL = [pytest.param(name, marks=MARKS.get(name, ())) for name in STEPS]


class Recorded:
    """A program that ran under stepscope."""

    def __init__(self, name: str, folder: Path) -> None:
        stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", folder)
        self.printed = run(*stepscope, JAX / f"{name}.py", XLA_FLAGS=QUICKLY).stdout
        self.folder = folder

    @functools.cached_property
    def steps(self) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.to_builtins(steps(open_run(self.folder), each=True))
        return answer

    @functools.cached_property
    def names(self) -> list[dict[str, Any]]:
        """names.jsonl, of the only process."""
        (path,) = self.folder.glob("proc-*/names.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]

    def spans_named(self, beginning: str) -> list[str]:
        texts = [each["name"] for each in self.names if each["is"] == "name"]
        return [text for text in texts if text.startswith(beginning)]

    def spans(self, name: str) -> int:
        """How many there are with that name."""
        process = open_run(self.folder).main
        assert process is not None
        ids = [number for number, each in process.names.spans.items() if each.name == name]
        return int(np.isin(process.spans.name, ids).sum())

    def notes(self) -> list[str]:
        return [each["text"] for each in self.names if each["is"] == "note"]

    def categories(self) -> set[str]:
        return {row["category"] for row in self.steps["breakdown"]}

    def windows(self) -> list[Path]:
        return sorted(self.folder.glob("proc-*/ops-*"))


class Runs(dict[str, Recorded]):
    """Each program runs when first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Recorded:
        if name == WITH_TORCH:
            needs.require("torch")
        self[name] = Recorded(name, self._folder / name)
        return self[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


@functools.cache
def alone(*names: str) -> dict[str, str]:
    """What each program prints without recording; all of them in one process."""
    printed = run(sys.executable, JAX / "all.py", *names, XLA_FLAGS=QUICKLY).stdout
    parts = re.split(r"^--- (\w+)\n", printed, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", ALL)
def test_results_are_the_same_to_the_last_bit(runs: Runs, name: str) -> None:
    names = [each for each in STEPS if (each in LONG) == (name in LONG)]
    here = [each for each in names if each != WITH_TORCH or needs.is_here("torch")]
    assert runs[name].printed == alone(*here)[name] != ""


@pytest.mark.parametrize("name", ALL)
def test_the_right_number_of_steps(runs: Runs, name: str) -> None:
    assert runs[name].steps["steps"] == STEPS[name]


@pytest.mark.parametrize("name", ALL)
def test_phases_sum_to_each_step(runs: Runs, name: str) -> None:
    for step in runs[name].steps["each"]:
        assert sum(step["phases"].values()) == pytest.approx(step["duration_ns"], rel=0.005)


@pytest.mark.parametrize("name", ALL)
def test_nothing_went_wrong(runs: Runs, name: str) -> None:
    assert not [note for note in runs[name].notes() if "compiled again" not in note]


@pytest.mark.parametrize("name", ["by_hand", "with_optax", "flax_nnx"])
def test_a_jitted_update_is_compute(runs: Runs, name: str) -> None:
    assert {"compute", "prepare"} <= runs[name].categories()
    assert "forward" not in runs[name].categories()


def test_the_anchor_is_named(runs: Runs) -> None:
    assert runs["by_hand"].steps["anchor"] == "update()"
    assert runs["flax_nnx"].steps["anchor"] == "train_step()"


def test_samples_come_from_the_batch(runs: Runs) -> None:
    for name in ("by_hand", "flax_nnx"):
        rate = runs[name].steps["rate"]
        assert rate["samples_per_s"] == pytest.approx(64 * rate["per_s"]), name


def test_a_jitted_function_that_only_some_steps_call_is_evaluation(
    runs: Runs,
) -> None:
    """The accuracy after each epoch; the last one follows the last step."""
    each = runs["by_hand"].steps["each"]
    evaluated = [step["phases"].get("evaluation", 0) > 0 for step in each]
    assert [number for number, has in enumerate(evaluated) if has] == [16, 32]


def test_without_jit_there_are_passes(runs: Runs) -> None:
    run = runs["without_jit"]
    assert {"prepare", "backward", "optimizer"} <= run.categories()
    assert not {"forward", "compute"} & run.categories()
    shares = [
        (step["phases"]["backward"] + step["phases"]["optimizer"]) / step["duration_ns"]
        for step in run.steps["each"]
        if step["measured"]
    ]
    assert statistics.median(shares) > 0.5


# --- compilations ---------------------------------------------------------------------------------


def line_of(program: str, text: str) -> int:
    lines = (JAX / f"{program}.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("new_shapes", "images has shape (33, 64), had (32, 64) and labels has shape (33,), had"),
        ("static_argument", "the static argument step is 1, was 0"),
        ("jit_in_loop", "it is a new function, jitted at jit_in_loop.py:"),
    ],
)
def test_the_cause_of_compiling_again_is_reported(runs: Runs, name: str, cause: str) -> None:
    again = runs[name].spans_named("jit update")
    assert len([text for text in again if "again because" not in text]) == 1
    assert [text for text in again if f"again because {cause}" in text]
    called = f"{name}.py:{line_of(name, 'params, loss = update(')}"
    assert all(f"called at {called}" in text for text in again if "again" in text)
    (note,) = [note for note in runs[name].notes() if "was compiled again" in note]
    assert cause in note
    assert called in note


def test_each_step_that_compiles_says_so(runs: Runs) -> None:
    for name in ("new_shapes", "static_argument", "jit_in_loop"):
        assert all(step["phases"].get("compile", 0) > 0 for step in runs[name].steps["each"]), name
    compiling = [step["phases"].get("compile", 0) > 0 for step in runs["with_optax"].steps["each"]]
    assert compiling == [True, *[False] * 39]


# --- waiting, and operators -----------------------------------------------------------------------


def test_waiting_for_an_array_is_sync(runs: Runs) -> None:
    """Except for what NumPy reads from memory directly, on a CPU."""
    waits = ("float", "int", "bool", "item", "tolist", "str", "format", "device_get", "device_put")
    for name in waits:
        assert runs["waits"].spans(name) >= 10, name
    assert runs["waits"].spans("block_until_ready") >= 20
    assert {"sync", "transfer"} <= runs["waits"].categories()


def test_operators_are_recorded_after_warm_up(runs: Runs) -> None:
    names = [path.name.removesuffix(".gz") for path in runs["by_hand"].windows()]
    assert "ops-1.xplane.pb" in names
    operators = json.loads(show(runs["by_hand"].folder, "ops", "--json"))["ops"]
    assert [row for row in operators if "dot" in row["name"]]


@pytest.mark.nightly
def test_samples_of_all_batches_of_a_step_count(runs: Runs) -> None:
    """And the other network is not a batch."""
    for name, samples in {"accumulated": 4 * 64, "jitted_gradients": 64}.items():
        rate = runs[name].steps["rate"]
        assert rate["samples_per_s"] == pytest.approx(samples * rate["per_s"]), name
    assert runs["gan"].steps["rate"]["samples_per_s"] is None


@pytest.mark.nightly
def test_torch_may_bring_the_batches(runs: Runs) -> None:
    assert {"input", "compute"} <= runs["torch_loader"].categories()
    assert {path.suffixes[0] for path in runs["torch_loader"].windows()} == {".xplane"}


def test_a_utility_is_not_worth_a_window(runs: Runs) -> None:
    assert not runs["only_a_utility"].windows()
