"""A signal at every so many of the calls that the recording makes for new code; its handler raises.

Each time the code and its file are new, so that the recording looks at them, and the handler is one
of several kinds.
"""

import ctypes
import functools
import os
import signal
import sys
import time

import stepscope

HERE = os.path.abspath(__file__)
SOURCE = """
def made(x):
    for i in range(x):
        yield i
list(made(3))
open(__file__).close()
with stepscope.region(__file__):
    stepscope.step()
"""

tool = ctypes.PyDLL(sys.argv[1])
tool.alarmed_in.restype = ctypes.py_object
every = int(sys.argv[2])


class Alarm(TimeoutError, ValueError, LookupError, TypeError, RuntimeError):
    """Of every kind that code of ours may expect."""


def plain(number, frame):
    raise Alarm


def once(number, frame):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    raise Alarm


def with_more(more, number, frame):
    raise Alarm


def of_any(*given):
    raise Alarm


class Handler:
    def __call__(self, number, frame):
        raise Alarm

    def method(self, number, frame):
        raise Alarm


KINDS = (plain, once, functools.partial(with_more, 1), of_any, Handler(), Handler().method)


def is_raised(number):
    """Whether the script gets what the handler raises at this call, or the end of one."""
    file = os.path.abspath(f"made_{number}.py")
    with open(file, "w") as made:
        made.write(SOURCE)
    code = compile(SOURCE + f"made_at = {time.time_ns()}", file, "exec")
    signal.signal(signal.SIGALRM, KINDS[number // every % len(KINDS)])
    tool.alarm_at(number)
    try:
        exec(code, {"__file__": file, "stepscope": stepscope})
        for _ in range(3):
            pass
    except Alarm:
        return True
    return False


def lost_and_seen():
    lost, seen, number = [], 0, 1
    while True:
        was_raised = is_raised(number)
        place = tool.alarmed_in()
        if place is None:  # there are fewer calls
            return lost, seen
        if not was_raised:
            lost.append(f"{number}: {place.co_filename}:{place.co_firstlineno} {place.co_qualname}")
        seen += was_raised
        number += every


tool.set_evaluator(HERE.encode())
is_raised(0)  # no signal: what is imported now would be counted once only
lost, seen = lost_and_seen()
print(seen)
print(*lost, sep="\n")
