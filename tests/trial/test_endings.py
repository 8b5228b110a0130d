"""How a run ended, in words."""

import signal
from pathlib import Path

import pytest

from stepscope.launch.supervisor import Ended
from stepscope.trial.endings import last_lines, trouble_of


@pytest.mark.parametrize(
    ("ended", "log", "words"),
    [
        (Ended(0, None), "", None),
        (Ended(3, None), "", "exit status 3"),
        (Ended(1, None), "Traceback\n\nValueError: no\n", "exit status 1: ValueError: no"),
        (Ended(1, None), "a\nMemoryError\n", "out of memory: MemoryError"),
        (Ended(1, None), "RuntimeError: CUDA out of memory. Tried", "out of memory: RuntimeError: "
         "CUDA out of memory. Tried"),
        (Ended(None, signal.SIGILL), "",
         "killed by SIGILL: an instruction this CPU does not have"),
        (Ended(None, signal.SIGUSR1), "", "killed by SIGUSR1"),
        (None, "", "it was still running after 12 s, and was stopped"),
    ],
)  # fmt: skip
def test_every_ending_has_its_words(
    tmp_path: Path, ended: Ended | None, log: str, words: str | None
) -> None:
    path = tmp_path / "log"
    path.write_text(log)
    assert trouble_of(ended, 12.0, str(path)) == words


def test_the_last_lines_of_a_long_log_are_read_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("\n".join(f"line {i}" for i in range(100_000)))
    assert last_lines(str(path))[-1] == "line 99999"
    assert len(last_lines(str(path))) == 8
    assert last_lines(str(tmp_path / "none")) == []
