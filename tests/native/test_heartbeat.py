"""The heartbeat's thread, while several threads start, pause and stop it."""

import threading
from pathlib import Path

from stepscope.native import _core


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
        assert heartbeats() == 0
