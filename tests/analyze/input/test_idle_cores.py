"""Which cores are idle: those that no program used, not only none of the run's."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from build import MS, START_NS, RunBuilder
from stepscope.analyze.input.cores import idle_cores, used_cores
from stepscope.analyze.run import load
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SYSTEM_FILE

SECOND = 1_000 * MS
WINDOW = np.array([START_NS]), np.array([START_NS + 4 * SECOND])


def idle(
    path: Path, *, own: float, machine: dict[str, Any], at_s: tuple[float, ...] = (),
    lost: float = 0.0, **used: float,
) -> float | None:  # fmt: skip
    """Four seconds in which the run uses `own` cores, its main thread has none for a `lost` share
    of the time, and the counters of the supervisor, which looks `at_s`, grow by so many cores."""
    run = RunBuilder(path, machine={"host": "here", **machine})
    process = run.process()
    for second in range(-1, 6):
        at = second * SECOND
        process.counter(CpuTimes, at, process_ns=round(own * (at + 1_000 * SECOND)))
        process.counter(Memory, at, run_delay_ns=round(lost * (at + SECOND)))
    process.write()
    rows = [
        {
            "monotonic_ns": START_NS + round(at * SECOND),
            **{name: round(cores * (at + 100) * SECOND) for name, cores in used.items()},
        }
        for at in at_s
    ]
    (run.path / SYSTEM_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    opened = load(run.path)
    assert opened.main is not None
    assert used_cores(opened, opened.main, WINDOW) == pytest.approx(own)
    return idle_cores(opened, opened.main, WINDOW)


def test_cores_that_other_programs_use_are_not_idle(tmp_path: Path) -> None:
    seconds = (-0.5, 0.5, 1.5, 2.5, 3.5, 4.5)
    two = {"cores": 2}
    assert idle(tmp_path / "full", own=0.5, machine=two, at_s=seconds, cpu_ns=2.0) == 0.0
    found = idle(tmp_path / "free", own=0.5, machine=two, at_s=seconds, cpu_ns=0.8)
    assert found == pytest.approx(1.2)


def test_while_the_training_has_no_core_none_is_idle(tmp_path: Path) -> None:
    """Whatever was counted once a second: for three quarters of the time there was none to have."""
    two, seconds = {"cores": 2}, (-0.5, 0.5, 1.5, 2.5, 3.5, 4.5)
    found = idle(tmp_path / "run", own=0.2, machine=two, at_s=seconds, cpu_ns=0.4, lost=0.75)
    assert found == pytest.approx(0.5 - 0.2)


def test_a_container_has_the_cores_of_its_limit(tmp_path: Path) -> None:
    """Of 64 cores the container may use 4. Others in it use one; those outside matter only where
    they leave fewer than four."""
    machine = {"cores": 64, "container_cores": 4.0}
    for name, on_machine, left in (("quiet", 30.0, 2.0), ("crowded", 62.5, 1.5)):
        found = idle(
            tmp_path / name, own=1.0, machine=machine, at_s=(0, 2, 4),
            cpu_ns=on_machine, container_cpu_ns=2.0,
        )  # fmt: skip
        assert found == pytest.approx(left)


@pytest.mark.parametrize(("own", "known"), [(0.5, None), (1.9, 0.1)])
def test_what_nobody_counted_is_not_called_idle(
    own: float, known: float | None, tmp_path: Path
) -> None:
    """Unless the run itself uses all of them: then none is, whatever others do."""
    assert idle(tmp_path / "run", own=own, machine={"cores": 2}) == (
        None if known is None else pytest.approx(known)
    )


def test_looks_that_do_not_cover_the_steps_say_nothing_about_them(tmp_path: Path) -> None:
    two = {"cores": 2}
    assert idle(tmp_path / "before", own=0.5, machine=two, at_s=(-9, -8), cpu_ns=0.5) is None
    assert idle(tmp_path / "old", own=0.5, machine=two, at_s=(0, 4), load=9.0) is None
    assert idle(tmp_path / "else", own=0.5, machine=two | {"host": "there"}, at_s=(0, 4)) is None
