"""The heartbeat's thread, while several threads start, pause and stop it."""

import threading
import time
from pathlib import Path

from native.recorded import events
from stepscope.native import _core
from stepscope.store import format as fmt


def heartbeats() -> int:
    names = [file.read_text() for file in Path("/proc/self/task").glob("*/comm")]
    return names.count("stepscope\n")


def test_a_heartbeat_that_is_stopped_while_it_pauses_does_not_come_back(folder: Path) -> None:
    for _ in range(50):
        _core.heartbeat_start(1, 0.03, 20.0, False)
        pausing = threading.Thread(target=_core.heartbeat_pause)
        pausing.start()
        _core.heartbeat_stop()
        pausing.join()
        _core.heartbeat_resume_soon()
        time.sleep(0.01)  # a thread that has ended takes a moment to go
        assert heartbeats() == 0


def test_a_slow_path_costs_its_own_time_and_not_that_of_whoever_has_the_core(folder: Path) -> None:
    """A pause stands for a core that is lost: 0.2 s each second."""
    paused: list[float] = []
    paused_twice = threading.Event()

    def pause() -> None:
        time.sleep(0.2)
        paused.append(0.2)
        if len(paused) == 2:
            paused_twice.set()

    _core.heartbeat_start(1, 0.03, 20.0, False, pause)
    paused_twice.wait()
    _core.heartbeat_stop()
    time.sleep(0.2)  # costs are written ten times a second
    _core.counters()
    cost = [each for each in events(folder) if each[0] & 0xFF == fmt.EventKind.COST]
    assert cost[-1][3] / _core.ticks_per_ns() < 0.5e9 * sum(paused)
