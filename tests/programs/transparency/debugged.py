"""pdb with commands from stdin, and a debugger of its own on bdb."""

import bdb
import pdb
import sys


def inner(x):
    y = x + 1
    return y * 2


def outer(n):
    total = 0
    for i in range(n):
        total += inner(i)
    return total


class Lines(bdb.Bdb):
    def __init__(self):
        super().__init__()
        self.seen = []

    def user_line(self, frame):
        self.seen.append((frame.f_code.co_name, frame.f_lineno))
        self.set_step()

    def user_return(self, frame, value):
        self.seen.append((frame.f_code.co_name, value))


debugger = Lines()
print(debugger.runcall(outer, 3), debugger.seen)
stopper = Lines()
stopper.set_break(__file__, inner.__code__.co_firstlineno + 2)
stopper.run("outer(2)", globals())
print(stopper.seen)
pdb.Pdb(nosigint=True, readrc=False).set_trace()
print(outer(2))
try:
    inner("x")
except TypeError:
    pdb.post_mortem(sys.exc_info()[2])
