"""Facts that a program can count about its own process: references, sizes, frames, files, signals."""

import faulthandler
import gc
import os
import resource
import signal
import sys
import threading
import time
import types
import warnings


class Thing:
    def __init__(self):
        self.part = [1, 2]

    def method(self):
        return sys.getrefcount(self), sys.getrefcount(self.part)

    @property
    def depth(self):
        return depth()


def depth():
    frame, count = sys._getframe(), 0
    while frame:
        frame, count = frame.f_back, count + 1
    return count


def generator():
    yield depth()
    yield sys.getrefcount(sys._getframe())


def outer():
    inside = [1]

    def inner():
        return inside

    return inner, sys.getrefcount(inside), sys.getrefcount(inner)


thing = Thing()
print("--- references")
for _ in range(3):
    print(thing.method(), sys.getrefcount(thing), sys.getrefcount(Thing), outer()[1:])
print([sys.getrefcount(each) for each in (depth, outer, generator, Thing.method, Thing.__init__)])
print(sys.getrefcount(sys._getframe()), sys.getrefcount(vars(thing)), sys.getrefcount(sys.modules))
print(len(gc.get_referrers(thing)), len(gc.get_referents(thing)), gc.is_tracked(depth.__code__))
print("--- sizes")
print([sys.getsizeof(each) for each in (thing, depth, Thing, depth.__globals__)])
print([sys.getsizeof(each.__code__) for each in (depth, outer, generator, Thing.method)])
print(sys.getsizeof(outer()[0].__closure__), sys.getsizeof(vars(thing)))
print("--- frames")
print(depth(), thing.depth, list(generator()), (lambda: depth())(), [depth() for _ in "ab"])
print(sys._getframe().f_back, len(sys._current_frames()))
print(max(map(depth.__class__.__call__, [depth] * 3)), sys.getrecursionlimit())
print("--- files")
with open(os.devnull) as mine:
    low = sorted(int(each) for each in os.listdir("/proc/self/fd") if int(each) < 64)
    print(low, mine.fileno(), os.dup(mine.fileno()))
print(resource.getrlimit(resource.RLIMIT_NOFILE), sorted(os.listdir()))
print("--- signals")
names = {each: signal.getsignal(each) for each in signal.valid_signals() if each < 32}
print(names, signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_PROF))
print(signal.set_wakeup_fd(-1), faulthandler.is_enabled())
print("--- warnings")
print(warnings.filters, warnings._onceregistry, warnings.showwarning.__module__)
print("__warningregistry__" in globals())
warnings.warn("once", stacklevel=1)
warnings.warn("once", stacklevel=1)
print(sorted(map(str, __warningregistry__)))
print("--- threads")
print(threading.enumerate(), threading.get_ident() == threading.main_thread().ident)
print(threading._shutdown_locks if hasattr(threading, "_shutdown_locks") else None)
print(threading.stack_size(), threading.get_native_id() == os.getpid())
print("--- collector")
gc.collect()
print(gc.get_stats()[2]["uncollectable"], gc.get_freeze_count(), gc.get_debug(), gc.garbage)
print(isinstance(depth, types.FunctionType), depth.__code__ is sys.modules["__main__"].depth.__code__)
print("--- times")
print(time.get_clock_info("perf_counter").implementation, os.nice(0), sorted(os.sched_getaffinity(0)))
print(os.getpriority(os.PRIO_PROCESS, 0), os.umask(0o22), os.getppid() > 0)
