"""Says that it is there and waits for a signal."""

import os
import select
import signal

# A signal that comes just before the waiting begins still ends it: Python writes to this pipe.
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
print("ready", os.getpid(), os.getppid(), flush=True)
while True:
    select.select([reader], [], [])
    os.read(reader, 1)
