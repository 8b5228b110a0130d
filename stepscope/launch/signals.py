"""Signals as the supervisor receives them: one at a time, with the sender."""

import os
import signal
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

_UNBLOCKABLE: Final = frozenset({signal.SIGKILL, signal.SIGSTOP})
ALL: Final = frozenset(signal.valid_signals()) - _UNBLOCKABLE

# What a terminal sends to all foreground processes.
_FROM_A_TERMINAL: Final = frozenset(
    {signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGWINCH}
    | {signal.SIGTTIN, signal.SIGTTOU}
)
_POLL_S: Final = 0.05


class Received(NamedTuple):
    number: int
    sender_pid: int | None  # None: the kernel, for the terminal


def block_all() -> set[signal.Signals | int]:
    """Signals wait until they are received; returns the previous mask."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ALL))


def receive(timeout_s: float) -> Received | None:
    """The next blocked signal, None after the time is up."""
    if not hasattr(signal, "sigtimedwait"):
        return _receive_by_asking(timeout_s)
    info = signal.sigtimedwait(ALL, max(0.0, timeout_s))
    if info is None:
        return None
    # The sender's id comes with SI_USER, SI_QUEUE or SI_TKILL, all of them 0 or less.
    return Received(info.si_signo, info.si_pid if info.si_code <= 0 else None)


def _receive_by_asking(timeout_s: float) -> Received | None:
    """macOS can neither wait with a time limit nor name the sender: signals that a terminal can
    send count as the terminal's, if there is one."""
    until = time.monotonic() + timeout_s
    while True:
        for number in signal.sigpending():
            signal.sigwait({number})
            terminal = number in _FROM_A_TERMINAL and os.isatty(0)
            return Received(number, None if terminal else 0)
        if time.monotonic() >= until:
            return None
        time.sleep(_POLL_S)


def discard_pending() -> None:
    """Signals for the script that it has already received."""
    while signal.sigpending() and receive(0) is not None:
        continue


def was_sent_from_below(sender_pid: int, child_pid: int) -> bool:
    """By the script or a descendant, and so to our whole group: the script has received it too."""
    pid = sender_pid
    while pid > 1:
        if pid == child_pid:
            return True
        pid = _parent_of(pid)
    return False


def raise_on_ourselves(number: int) -> None:
    """Let the signal do what it does by default; returns when it only stopped us."""
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})


def restore(mask: Iterable[signal.Signals | int]) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _parent_of(pid: int) -> int:
    words = _stat(pid)
    return int(words[1]) if words else 0


def _stat(pid: int) -> list[str]:
    """State, parent and the rest of a process; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
