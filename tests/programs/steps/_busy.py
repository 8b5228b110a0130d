"""Work that takes a known time on any machine."""

import time


def busy(milliseconds: float) -> None:
    until = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < until:
        pass
