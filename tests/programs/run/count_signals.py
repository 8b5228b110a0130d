"""Counts the signals it gets until a word comes on stdin, and prints the counts each time."""

import collections
import os
import select
import signal
import sys

seen = collections.Counter()


def count(number, frame):
    seen[signal.Signals(number).name] += 1


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, count)
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
print("ready", os.getpid(), flush=True)
while sys.stdin not in select.select([sys.stdin, reader], [], [])[0]:
    os.read(reader, 100)
    print(dict(sorted(seen.items())), flush=True)
