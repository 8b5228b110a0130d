"""Cuts its own run files to the length that it is told while it works, and says what it computed."""

import faulthandler
import glob
import os
import signal
import sys
import threading

import stepscope

run, which, length, how = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
heard = []


def hear(number, frame):
    heard.append(number)


def work(n):
    return sum(len(str(i)) for i in range(n))


def recurse(n):
    return 1 + recurse(n - 1) if n else work(3)


def turns(count):
    total = 0
    for number in range(count):
        with stepscope.region("turn"):
            total += work(40) + recurse(number % 60)
        stepscope.step()
    return total


if how == "own handler":
    signal.signal(signal.SIGBUS, hear)
if how == "faulthandler":
    faulthandler.enable()
total = turns(150)
for path in glob.glob(os.path.join(run, "proc-*", which)):
    os.truncate(path, length)
total += turns(150)
helper = threading.Thread(target=turns, args=(50,))
helper.start()
helper.join()
space = {}
for number in range(60):
    exec(compile(f"def made(n):\n    n += {number}\n    return n\n", "made.py", "exec"), space)
    total += space["made"](1)
child = os.fork()
if not child:
    os._exit(turns(5) % 100)
total += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
if how == "own handler":
    signal.raise_signal(signal.SIGBUS)
    assert heard == [signal.SIGBUS]
print(total, flush=True)
if how == "faulthandler":
    signal.raise_signal(signal.SIGBUS)
