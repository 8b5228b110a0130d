"""What runs at the very end, and in which order."""

import atexit
import sys
import threading
import weakref


class Last:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name, sys is None, sys.is_finalizing() if sys else None, flush=True)


def at_exit(name):
    print("atexit", name, len(sys._current_frames()), threading.active_count(), flush=True)


def broken():
    raise ValueError("in an exit handler")


def waits(event):
    event.wait()
    print("thread ends", flush=True)


atexit.register(at_exit, "first registered")
atexit.register(broken)
atexit.register(at_exit, "last registered")
kept = Last("global")
cycle = Last("cycle")
cycle.me = cycle
weakref.finalize(kept, print, "finalizer")
in_function = (lambda x: lambda: x)(Last("closure"))
event = threading.Event()
threading.Thread(target=waits, args=(event,)).start()
threading._register_atexit(event.set)
sys.stdout.flush()
suspended = (x for x in [Last("generator")])
next(suspended)
sys.exit("a last word")
