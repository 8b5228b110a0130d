"""speedscope's JSON of a recorded run against the published format; and the format's own rules."""

import copy
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest

from show.exporters.recorded import stepscope
from speedscope_format import SCHEMA, NotSpeedscope, Sampled, checked

GOOD: dict[str, Any] = {
    "$schema": SCHEMA,
    "shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}, {"name": "load"}]},
    "profiles": [
        {
            "type": "sampled",
            "name": "MainThread",
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": 30,
            "samples": [[0], [], [0, 1]],
            "weights": [10, 5, 15],
        },
        {
            "type": "evented",
            "name": "other",
            "unit": "milliseconds",
            "startValue": 1,
            "endValue": 9.5,
            "events": [
                {"type": "O", "at": 1, "frame": 0},
                {"type": "O", "at": 2, "frame": 1},
                {"type": "C", "at": 2, "frame": 1},
                {"type": "C", "at": 9.5, "frame": 0},
            ],
        },
    ],
    "name": "run",
    "activeProfileIndex": 0,
    "exporter": "stepscope",
}


def test_a_recorded_run_is_a_file_that_speedscope_opens(recorded: Path) -> None:
    stepscope("export", "run", "--to", "speedscope", folder=recorded)
    file = checked((recorded / "run.speedscope.json").read_bytes())
    assert file.exporter == f"stepscope@{version('stepscope')}"  # what its format asks for
    assert {"MainThread", "helper"} <= {profile.name for profile in file.profiles}
    main = file.profiles[0]
    assert isinstance(main, Sampled)
    assert main.startValue + sum(main.weights) == main.endValue
    seen = {file.shared.frames[int(number)].name for stack in main.samples for number in stack}
    assert "train" in seen


def test_a_file_by_the_rules_passes() -> None:
    assert checked(json.dumps(GOOD).encode()).profiles[0].name == "MainThread"


def without(*path: Any) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        for part in path[:-1]:
            file = file[part]
        del file[path[-1]]

    return change


def having(value: Any, *path: Any) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        for part in path[:-1]:
            file = file[part]
        file[path[-1]] = value

    return change


SAMPLED = ("profiles", 0)
EVENTED = ("profiles", 1)
REQUIRED = [
    ("$schema",),
    ("shared",),
    ("profiles",),
    ("shared", "frames"),
    ("shared", "frames", 0, "name"),
    *((*SAMPLED, name) for name in GOOD["profiles"][0]),
    *((*EVENTED, name) for name in GOOD["profiles"][1]),
    *((*EVENTED, "events", 0, name) for name in ("type", "at", "frame")),
]
WRONG: list[tuple[Any, ...]] = [
    # value, then where
    ("https://example.org/schema.json", "$schema"),
    ("0", "activeProfileIndex"),
    (2, "activeProfileIndex"),
    (-1, "activeProfileIndex"),
    (7, "name"),
    (None, "exporter"),
    ([], "profiles"),
    (None, "shared", "frames", 0, "file"),
    ("3", "shared", "frames", 0, "line"),
    (3, "shared", "frames", 0, "name"),
    ("stacks", *SAMPLED, "type"),
    ("ns", *SAMPLED, "unit"),
    ("0", *SAMPLED, "startValue"),
    (31, *SAMPLED, "startValue"),
    (29, *SAMPLED, "endValue"),
    ([[0], []], *SAMPLED, "samples"),
    ([[0], [], [2]], *SAMPLED, "samples"),
    ([[0], [], [0.5]], *SAMPLED, "samples"),
    ([0, 0, 0], *SAMPLED, "samples"),
    ([10, -5, 15], *SAMPLED, "weights"),
    (["10", 5, 15], *SAMPLED, "weights"),
    (9, *EVENTED, "endValue"),
    (1.5, *EVENTED, "startValue"),
    ("X", *EVENTED, "events", 0, "type"),
    (3, *EVENTED, "events", 1, "at"),
    (2, *EVENTED, "events", 1, "frame"),
    (0, *EVENTED, "events", 2, "frame"),
    ("O", *EVENTED, "events", 2, "type"),
    ("C", *EVENTED, "events", 0, "type"),
]


@pytest.mark.parametrize(
    "change",
    [*(without(*path) for path in REQUIRED), *(having(*wrong) for wrong in WRONG)],
    ids=[*map(str, REQUIRED), *map(str, WRONG)],
)
def test_a_file_against_the_rules_is_reported(change: Callable[[Any], None]) -> None:
    file = copy.deepcopy(GOOD)
    change(file)
    with pytest.raises(NotSpeedscope):
        checked(msgspec.json.encode(file))
