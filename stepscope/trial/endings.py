"""Why a run of the script cannot be counted, in words: how it ended, and what it said last."""

import signal
from typing import Final

from stepscope.launch.supervisor import Ended

_LAST_LINES: Final = 8
_TAIL_BYTES: Final = 16_384
_MEANINGS: Final = {
    signal.SIGILL: "an instruction this CPU does not have",
    signal.SIGSEGV: "it touched memory that is not its own",
    signal.SIGABRT: "it gave itself up",
    signal.SIGBUS: "its memory or a mapped file was gone",
    signal.SIGFPE: "a division of integers by zero",
    signal.SIGKILL: "mostly the system does that when memory runs out",
}
_OUT_OF_MEMORY: Final = ("MemoryError", "out of memory", "Cannot allocate memory", "bad_alloc")
_ASKS: Final = "EOFError: EOF when reading a line"


def trouble_of(ended: Ended | None, limit_s: float, log: str) -> str | None:
    """None if the script ended well. `ended` is None if it was still running after `limit_s`."""
    if ended is None:
        return f"it was still running after {limit_s:.0f} s, and was stopped"
    if ended.signal is not None:
        return f"killed by {_named(ended.signal)}"
    if not ended.exit_status:
        return None
    return _of_exit(ended.exit_status, last_lines(log))


def last_lines(log: str) -> list[str]:
    """What the script printed last, to stdout or stderr."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()][-_LAST_LINES:]


def _named(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    meaning = _MEANINGS.get(signal.Signals(number))
    return f"{name}: {meaning}" if meaning else name


def _of_exit(status: int, lines: list[str]) -> str:
    last = lines[-1] if lines else ""
    if last == _ASKS:
        return "it asks for input, and nobody is there to answer: give it by arguments or a file"
    if any(sign in line for line in lines for sign in _OUT_OF_MEMORY):
        return f"out of memory: {last}"
    return f"exit status {status}: {last}" if last else f"exit status {status}"
