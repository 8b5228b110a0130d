"""Other programs that use the machine while something is recorded."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

BUSY = "import sys; print(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """All of them compute from the first line of the block to its last."""
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) for _ in range(count)
    ]
    try:
        for each in others:
            assert each.stdout is not None
            each.stdout.readline()
        yield
    finally:
        for each in others:
            each.kill()
            each.communicate()
