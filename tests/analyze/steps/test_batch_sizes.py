"""How many samples a step trains on, and what was counted."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model import Rate
from stepscope.store.format import ForwardFlag, SpanCategory

TURNS = 30
REAL, NOISE, VALIDATION = 1, 2, 3  # loaders


class Training:
    """Steps of 10 ms, each with its own fetches and passes."""

    def __init__(self, path: Path) -> None:
        self.run = RunBuilder(path)
        self.process: ProcessBuilder = self.run.process()

    def fetch(self, at_ms: float, samples: int, loader: int) -> None:
        at_ns = int(at_ms * MS)
        self.process.span(
            SpanCategory.INPUT, at_ns, at_ns + MS // 10, name="DataLoader", samples=samples,
            loader=loader,
        )  # fmt: skip

    def forward(self, at_ms: float, samples: int, *, flags: int = 0, name: str = "Net") -> None:
        at_ns = int(at_ms * MS)
        self.process.span(
            SpanCategory.FORWARD, at_ns, at_ns + MS, name=name, samples=samples, flags=flags
        )

    def update(self, at_ms: float, number: int = 1) -> None:
        at_ns = int(at_ms * MS)
        self.process.span(SpanCategory.BACKWARD, at_ns, at_ns + MS, name="backward")
        self.process.span(
            SpanCategory.OPTIMIZER, at_ns + MS, at_ns + 2 * MS, name="Adam", number=number
        )

    def rate(self) -> Rate:
        self.process.write()
        rate = steps(load(self.run.path)).rate
        assert rate is not None
        return rate

    def samples(self) -> float:
        rate = self.rate()
        assert rate.samples_per_s is not None
        return rate.samples_per_s / rate.per_s


@pytest.fixture
def training(tmp_path: Path) -> Training:
    return Training(tmp_path / "run")


def test_two_loaders_side_by_side_count_as_the_first_one_does(training: Training) -> None:
    """`for real, noise in zip(reals, noises)`"""
    for turn in range(TURNS):
        training.fetch(10 * turn, 64, REAL)
        training.fetch(10 * turn + 1, 448, NOISE)
        training.forward(10 * turn + 2, 64)
        training.update(10 * turn + 4)
    rate = training.rate()
    assert rate.samples_per_s == pytest.approx(64 * rate.per_s)
    assert rate.samples_are == "the batches of the first of 2 loaders"


def test_a_gans_noise_from_a_loader_does_not_double_its_images(training: Training) -> None:
    """The discriminator trains on real images before noise is fetched for the generator."""
    for turn in range(TURNS):
        training.fetch(10 * turn, 64, REAL)
        training.forward(10 * turn + 1, 64, name="Discriminator")
        training.update(10 * turn + 2, number=1)
        training.fetch(10 * turn + 5, 64, NOISE)
        training.forward(10 * turn + 6, 64, name="Generator")
        training.update(10 * turn + 7, number=2)
    assert training.samples() == pytest.approx(64, rel=0.05)


def test_accumulated_batches_of_one_loader_are_summed(training: Training) -> None:
    for turn in range(TURNS):
        training.fetch(10 * turn, 32, REAL)
        training.forward(10 * turn + 1, 32)
        training.process.span(
            SpanCategory.BACKWARD, (10 * turn + 2) * MS, (10 * turn + 3) * MS, name="backward"
        )
        training.fetch(10 * turn + 4, 32, REAL)
        training.forward(10 * turn + 5, 32)
        training.update(10 * turn + 6)
    rate = training.rate()
    assert rate.samples_per_s == pytest.approx(64 * rate.per_s)
    assert rate.samples_are is None


def test_batches_that_are_evaluated_are_not_counted(training: Training) -> None:
    for turn in range(TURNS):
        training.fetch(10 * turn, 32, REAL)
        training.forward(10 * turn + 1, 32)
        training.update(10 * turn + 3)
        if turn == TURNS // 2:
            training.fetch(10 * turn + 6, 500, VALIDATION)
            training.forward(10 * turn + 7, 500, flags=int(ForwardFlag.NO_GRAD))
    assert training.samples() == pytest.approx(32)


def test_without_a_loader_the_rate_says_which_dimension_it_counts(training: Training) -> None:
    for turn in range(TURNS):
        training.forward(10 * turn, 35)
        training.update(10 * turn + 4)
    rate = training.rate()
    assert rate.samples_per_s == pytest.approx(35 * rate.per_s)
    assert rate.samples_are == "the first dimension of what Net is given"
