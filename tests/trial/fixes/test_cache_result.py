"""A file that a function reads again and again is read once, and the training stays the same."""

import argparse
import contextlib
import dataclasses
import json
import pickle
import random
import textwrap
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.inside import readers
from stepscope.trial.fixes.inside.argument_keys import argument_key
from stepscope.trial.fixes.inside.kept_files import KeptFiles
from stepscope.trial.fixes.inside.kept_values import KeptValue
from trial.fixes.recorded import subject_of, with_finding
from trial.scripts import run_with

FIX = "cache-result"
SCALE = "return np.array([float(word) for word in file.read().split()])"
PLENTY = 1 << 30


class Reading:
    """A file's lines, and how often they were read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.times = 0

    def __call__(self) -> list[str]:
        self.times += 1
        return self.path.read_text().split()


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    path = tmp_path / "words.txt"
    path.write_text("some words")
    return Reading(path)


def get(kept: KeptFiles, reading: Reading) -> list[str]:
    found: list[str] = kept.get("words", lambda: [str(reading.path)], reading)
    return found


def test_a_file_is_read_again_when_it_has_changed(reading: Reading) -> None:
    said: list[None] = []
    kept = KeptFiles(PLENTY, lambda: said.append(None))
    assert [get(kept, reading) for _ in range(3)] == [["some", "words"]] * 3
    assert (reading.times, len(said)) == (1, 2)
    reading.path.write_text("others now")
    assert get(kept, reading) == ["others", "now"]
    assert reading.times == 2
    reading.path.unlink()
    kept.get("words", lambda: [str(reading.path)], lambda: None)


def test_what_does_not_fit_into_memory_is_read_as_always(reading: Reading) -> None:
    kept = KeptFiles(10, lambda: None)
    assert [get(kept, reading) for _ in range(3)] == [["some", "words"]] * 3
    assert reading.times == 3


def test_whoever_writes_into_what_they_got_gets_copies_from_then_on(reading: Reading) -> None:
    kept = KeptFiles(PLENTY, lambda: None)
    for _ in range(6):
        words = get(kept, reading)
        assert words == ["some", "words"]
        words.append("mine")
    assert reading.times == 2
    assert not kept.were_changed()


def test_writing_into_it_late_is_seen_at_the_end(reading: Reading) -> None:
    kept = KeptFiles(PLENTY, lambda: None)
    words = [get(kept, reading) for _ in range(6)]
    words[-1].append("mine")
    assert kept.were_changed()


def test_what_cannot_be_compared_is_not_kept() -> None:
    assert KeptValue(np.arange(3)).can_be_kept
    assert not KeptValue(lambda: 1).can_be_kept
    assert not KeptValue(open(__file__)).can_be_kept  # noqa: SIM115  # it is closed when collected


def test_arguments_that_say_everything_about_themselves_make_a_key() -> None:
    assert argument_key(("a", 1, None)) == argument_key(("a", 1, None))
    assert argument_key(("a", 1)) != argument_key(("a", True))
    assert argument_key(((1.0,), {"k": Path("x")})) == argument_key(((1.0,), {"k": Path("x")}))
    assert argument_key(({"rng": np.random.default_rng()},)) is None
    assert argument_key((open, iter([1]))) is None


@dataclasses.dataclass
class Options:
    folder: Path
    columns: list[str]
    kind: type = float


class Table:
    __slots__ = ("rows",)


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: np.arange(4), np.arange(4.0)),
        (lambda: np.arange(4), np.arange(4).reshape(2, 2)),
        (lambda: np.arange(8)[::2], np.arange(4)),
        (lambda: Options(Path("a"), ["x", "y"]), Options(Path("a"), ["x", "z"])),
        (lambda: argparse.Namespace(a=np.ones(2)), argparse.Namespace(a=np.zeros(2))),
        (lambda: types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
        (lambda: {"b", "a"}, {"a"}),
    ],
)
def test_a_new_object_of_the_same_value_has_the_same_key(make: Any, other: Any) -> None:
    assert argument_key((make(),)) == argument_key((make(),)) is not None
    assert argument_key((make(),)) != argument_key((other,))
    hash(argument_key((make(),)))


def test_what_would_take_long_or_hides_something_has_no_key() -> None:
    around: list[Any] = []
    around.append(around)
    large = np.zeros(2**23, np.uint8)
    for value in (
        around,
        large,
        list(range(5_000)),
        Table(),
        np.array([Table()]),
        random.Random(0),
    ):
        assert argument_key(value) is None


@pytest.fixture
def kept_readers() -> Any:
    patches = Patches()
    asking = readers.Asking()
    handed_out: list[None] = []
    kept = KeptFiles(PLENTY, lambda: handed_out.append(None))
    for module in (json, np, pickle):
        readers.keep(module, patches, kept, asking)
    yield asking, handed_out
    patches.undo()


def test_an_archive_unpacks_each_array_once(kept_readers: Any, tmp_path: Path) -> None:
    asking, handed_out = kept_readers
    path = tmp_path / "data.npz"
    np.savez(path, x=np.arange(4), y=np.ones(2))
    with asking:
        for _ in range(3):
            with np.load(path) as archive:
                assert archive["x"].tolist() == [0, 1, 2, 3]
                assert sorted(archive) == archive.files == ["x", "y"]
    assert len(handed_out) == 4  # the archive and its array, twice each
    with np.load(path) as archive:
        assert type(archive).__name__ == "NpzFile"  # nobody asks any more
    np.savez(path, x=np.arange(5))
    with asking, np.load(path) as archive:
        assert archive["x"].tolist() == [0, 1, 2, 3, 4]


def test_a_file_with_several_objects_is_read_on_behind_the_first(
    kept_readers: Any, tmp_path: Path
) -> None:
    asking, handed_out = kept_readers
    path = tmp_path / "data.pkl"
    path.write_bytes(pickle.dumps([1]) + pickle.dumps([2]))
    with asking:
        for _ in range(2):
            with path.open("rb") as file:
                assert (pickle.load(file), pickle.load(file)) == ([1], [2])
    assert len(handed_out) == 1


# --- with a real script ---------------------------------------------------------------------------

BY_VALUE = """
    import dataclasses, json, pathlib

    @dataclasses.dataclass
    class Options:
        path: pathlib.Path

    def read(options):
        return options.path.read_text().split()

    def read_into(options, words):
        words.extend(options.path.read_text().split())
        return len(words)

    path = pathlib.Path("words.txt")
    path.write_text("some words")
    for step in range(12):
        words = []
        print(read(Options(path)), read_into(Options(path), words), words)
"""


def test_equal_arguments_are_enough_and_what_is_written_into_them_is_written_again(
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(BY_VALUE))
    place = {"file": "train.py", "function": "read", "first_line": 8}
    into = {"file": "train.py", "function": "read_into", "first_line": 11}
    with contextlib.chdir(tmp_path):
        for name, where in (("read", place), ("into", into)):
            settings = {"function": where, "whole": True}
            tried = run_with(script, fixes={FIX: settings}, into=tmp_path / name)
            assert tried.stdout == "['some', 'words'] 2 ['some', 'words']\n" * 12
            assert (tried.applied(FIX) is None) == (name == "into")


READS = """
    import numpy as np
    import random

    np.savez("points.npz", x=np.random.default_rng(0).normal(size=(500, 20)))
    with open("scale.txt", "w") as file:
        file.write("0.5 " * 1000)

    def scale(name):
        with open(name) as file:
            return np.array([float(word) for word in file.read().split()])

    def batch(rng):
        points = np.load("points.npz")["x"]
        points -= 1.0  # into what was read
        return points[rng.integers(0, 500, 32)]

    def shuffled(name):
        with open(name) as file:
            words = file.read().split()
        random.shuffle(words)
        return words

    rng = np.random.default_rng(1)
    weights = np.zeros(20)
    for step in range(12):
        x = batch(rng) * scale("scale.txt")[:20]
        shuffled("scale.txt")
        weights += 0.01 * x.mean(axis=0)
        print(step, weights.sum().hex())
"""


def test_the_losses_stay_the_same_to_the_last_bit(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(READS))
    with contextlib.chdir(tmp_path):
        subject, before = subject_of(script)
        fix = fixes.named(FIX)
        settings = {}
        for line in (SCALE, 'points = np.load("points.npz")["x"]'):
            proposal = fix.propose(with_finding(subject, "repeated-load", line))
            assert isinstance(proposal, Proposal)
            settings[proposal.settings["function"]["function"]] = proposal.settings
        assert [each["whole"] for each in settings.values()] == [True, False]
        for name in ("scale", "batch"):
            after = run_with(script, fixes={FIX: settings[name]}, into=tmp_path / name)
            assert (after.stdout, after.stderr) == (before.stdout, "")
            assert after.applied(FIX) == f"{name} read its file once"
            assert after.refused(FIX) is None
        refusal = fix.propose(with_finding(subject, "repeated-load", "random.shuffle(words)"))
        assert isinstance(refusal, Refusal)
        assert refusal.reason.endswith("cannot keep its result: line 21 draws random numbers.")


KEEPS_IN_ITSELF = """
    import json
    import pathlib

    pathlib.Path("items.json").write_text(json.dumps(list(range(500))))

    class Catalogue:
        def __init__(self, path):
            self.path = pathlib.Path(path)
            self.parsed = None
            self.asked = 0

        @property
        def prices(self):
            self.parsed = [2 * item for item in json.loads(self.path.read_text())]
            return self.parsed

        def counted(self):
            self.asked += 1
            return json.loads(self.path.read_text())

    one, other = Catalogue("items.json"), Catalogue("items.json")
    for step in range(12):
        print(step, sum(one.prices), len(other.counted()), other.asked)
"""


def test_what_a_method_sets_in_its_own_object_is_seen_when_it_runs(tmp_path: Path) -> None:
    """Set to the same again, it can be kept; what changes with every call cannot."""
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(KEEPS_IN_ITSELF))
    with contextlib.chdir(tmp_path):
        subject, before = subject_of(script)
        for line, name, is_kept in (
            (
                "self.parsed = [2 * item for item in json.loads(self.path.read_text())]",
                "prices",
                True,
            ),
            ("return json.loads(self.path.read_text())", "counted", False),
        ):
            proposal = fixes.named(FIX).propose(with_finding(subject, "repeated-load", line))
            assert isinstance(proposal, Proposal)
            after = run_with(script, fixes={FIX: proposal.settings}, into=tmp_path / name)
            assert (after.stdout, after.stderr) == (before.stdout, "")
            assert (after.applied(FIX) is not None) == is_kept, name
