"""Garbage collections, references, weak references and finalizers."""

import gc
import sys
import weakref

seen = []


class Node:
    def __init__(self, name):
        self.name = name
        self.me = self

    def __del__(self):
        seen.append(f"del {self.name}")


def callback(phase, info):
    seen.append((phase, info["generation"]))


def make(name):
    node = Node(name)
    return weakref.ref(node, lambda _: seen.append(f"weak {name}"))


print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.garbage)
gc.disable()
gc.collect()
gc.callbacks.append(callback)
references = [make(i) for i in range(3)]
print(gc.collect(), [reference() for reference in references], seen)
gc.callbacks.remove(callback)
before = gc.get_stats()
gc.collect(0)
gc.collect(1)
gc.collect(2)
after = gc.get_stats()
print([b["collections"] - a["collections"] for a, b in zip(before, after)])
gc.freeze()
print(gc.get_freeze_count() > 0)
gc.unfreeze()
print(gc.get_freeze_count())


def counted():
    value = object()
    container = [value]
    print(sys.getrefcount(value), sys.getrefcount(container), sys.getrefcount(counted))
    print(len(gc.get_referrers(value)), len(gc.get_referrers(container)))
    frame = sys._getframe()
    print(sys.getrefcount(frame))
    return value


print(sys.getrefcount(counted()), sys.getrefcount(Node), sys.getrefcount(Node("x")))
marker = object()


def holds(argument):
    for _ in range(3):
        pass
    return sys.getrefcount(argument)


print(sys.getrefcount(marker), holds(marker), sys.getrefcount(marker))


def short_lived():
    def function():
        return 1

    function()
    return weakref.ref(function)


print(short_lived()())
running = (lambda: (yield sys.getrefcount(marker)))()
print(next(running))
finalizer = weakref.finalize(marker.__class__ if False else Node, print, "finalized at exit")
print(finalizer.alive)
try:
    raise ValueError("kept")
except ValueError as error:
    kept = weakref.ref(error)
print(kept())
gc.collect()
gc.callbacks.clear()
gc.collect()
gc.enable()
gc.set_debug(gc.DEBUG_SAVEALL)
Node("saved")
print(gc.collect(), len(gc.garbage))
gc.set_debug(0)
gc.garbage.clear()
sys.stdout.flush()
