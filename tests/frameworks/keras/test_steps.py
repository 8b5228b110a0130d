"""Keras 3 on its three backends, and tf_keras: the right steps, phases, samples and actions."""

import json
from pathlib import Path

import pytest

import needs
from frameworks.running import show
from frameworks.tf_runs import categories, notes_of, several, span_names, steps_of

needs.require("keras")

STEPS = {
    "fit_arrays": 32,
    "fit_dataset": 28,
    "fit_generator": 22,
    "fit_five": 64,
    "fit_mixed": 24,
    "fit_own_step": 26,
    "on_batch": 30,
    "gan_on_batch": 25,
}
# The same on every backend; with torch Keras executes one step at a time.
SOME = ["fit_arrays", "fit_generator", "on_batch"]
LEGACY = ["fit_arrays", "fit_five", "fit_own_step", "on_batch"]
KINDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "keras": (list(STEPS), {}),
    "tf_keras": (LEGACY, {"KERAS_PACKAGE": "tf_keras"}),
    "tf_keras, too": (sorted(STEPS.keys() - LEGACY), {"KERAS_PACKAGE": "tf_keras"}),
    "torch": (SOME, {"KERAS_BACKEND": "torch"}),
    "jax": ([*SOME, "fit_five"], {"KERAS_BACKEND": "jax"}),
}
BACKENDS = {"keras": "tensorflow"}  # of the kinds that are not called as theirs
NIGHTLY = {"tf_keras", "tf_keras, too", "torch", "jax"}
EACH_KIND = [
    pytest.param(kind, marks=pytest.mark.nightly if kind in NIGHTLY else ()) for kind in KINDS
]


class Runs:
    """Each kind once, when first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._printed: dict[str, dict[str, str]] = {}

    def of(self, kind: str) -> Path:
        package = kind.partition(",")[0]
        needs.require(BACKENDS.get(package, package))
        if kind not in self._printed:
            names, environment = KINDS[kind]
            self._printed[kind] = several("keras", names, self._folder / kind, environment)
        return self._folder / kind

    def printed(self, kind: str) -> dict[str, str]:
        self.of(kind)
        return self._printed[kind]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("kind", EACH_KIND)
def test_the_right_number_of_steps(runs: Runs, kind: str) -> None:
    found = {name: steps_of(runs.of(kind) / name)["steps"] for name in KINDS[kind][0]}
    assert found == {name: STEPS[name] for name in KINDS[kind][0]}


@pytest.mark.parametrize("kind", EACH_KIND)
def test_phases_sum_to_each_step(runs: Runs, kind: str) -> None:
    for step in (
        each for name in KINDS[kind][0] for each in steps_of(runs.of(kind) / name)["each"]
    ):
        assert sum(step["phases"].values()) == pytest.approx(step["duration_ns"], rel=0.005)


@pytest.mark.parametrize("kind", ["keras", pytest.param("tf_keras", marks=pytest.mark.nightly)])
def test_losses_are_the_same_to_the_last_bit(runs: Runs, kind: str) -> None:
    names, environment = KINDS[kind]
    recorded = runs.printed(kind)
    assert recorded == several("keras", names, None, environment)
    assert all(text.split() for text in recorded.values())


@pytest.mark.parametrize("kind", ["keras", "tf_keras"])
def test_fit_is_compute_with_evaluation_and_checkpoints_apart(runs: Runs, kind: str) -> None:
    found = categories(runs.of(kind) / "fit_arrays")
    assert {"compute", "evaluation", "checkpoint"} <= found
    assert not {"forward", "backward", "optimizer"} & found
    assert steps_of(runs.of(kind) / "fit_arrays")["anchor"] == "batches of Keras"


@pytest.mark.parametrize("kind", ["keras", "tf_keras"])
def test_a_step_that_runs_eagerly_has_its_passes(runs: Runs, kind: str) -> None:
    assert {"forward", "backward", "optimizer"} <= categories(runs.of(kind) / "fit_own_step")


@pytest.mark.nightly
def test_on_torch_the_passes_are_torchs(runs: Runs) -> None:
    found = categories(runs.of("torch") / "fit_arrays")
    assert {"input", "forward", "backward", "optimizer", "evaluation"} <= found


@pytest.mark.nightly
def test_on_jax_it_is_compute_and_input(runs: Runs) -> None:
    assert {"input", "compute", "evaluation"} <= categories(runs.of("jax") / "fit_arrays")


@pytest.mark.parametrize("kind", EACH_KIND)
def test_every_example_is_counted_once(runs: Runs, kind: str) -> None:
    """The last batch of fit_arrays' epochs has 8."""
    names, _ = KINDS[kind]
    folder = runs.of(kind)
    for name in names:
        each = steps_of(folder / name)
        samples = each["rate"]["samples_per_s"] / each["rate"]["per_s"]
        least = 29 if name == "fit_arrays" else 32
        assert least <= samples <= 32.0001, (kind, name)


def test_five_steps_in_one_execution_are_even_and_said_to_be(runs: Runs) -> None:
    folder = runs.of("keras") / "fit_five"
    each = steps_of(folder)["each"]
    inside = [step["duration_ns"] for step in each[6:10]]
    assert max(inside) - min(inside) <= 2_000  # rounding of the clock
    assert any("executes 5 steps in one" in note for note in notes_of(folder))


@pytest.mark.parametrize("kind", ["keras", "tf_keras"])
def test_each_callback_has_its_time(runs: Runs, kind: str) -> None:
    answer = json.loads(show(runs.of(kind) / "fit_arrays", "actions", "--json"))
    rows = {row["name"]: row["calls"] for row in answer["actions"]}
    assert rows["epoch"] == rows["EarlyStopping.on_epoch_end"] == 2
    assert rows["ModelCheckpoint.on_epoch_end"] == 2
    assert rows["Losses.on_epoch_end"] == 2
    assert rows["CSVLogger.on_train_begin"] == 1


def test_a_window_of_fit_has_ten_steps(runs: Runs) -> None:
    answer = json.loads(show(runs.of("keras") / "fit_dataset", "steps", "--each", "--json"))
    (folder,) = (runs.of("keras") / "fit_dataset").glob("proc-*")
    assert (folder / "ops-1.xplane.pb").stat().st_size > 1000
    left_out = [step for step in answer["each"][5:] if not step["measured"]]
    assert len(left_out) >= 10


@pytest.mark.parametrize("kind", ["keras", "tf_keras"])
def test_nothing_failed_in_our_hooks(runs: Runs, kind: str) -> None:
    for name in KINDS[kind][0]:
        notes = notes_of(runs.of(kind) / name)
        assert not [note for note in notes if "executes" not in note], name
        assert span_names(runs.of(kind) / name)
