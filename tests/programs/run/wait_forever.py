"""Says that it is there and waits for a signal."""

import os
import signal

print("ready", os.getpid(), os.getppid(), flush=True)
while True:
    signal.pause()
