"""Steps between which other interpreters run, import, open files, raise and start threads."""

import sys
import warnings

import stepscope

if sys.version_info >= (3, 13):
    import _interpreters as interpreters

    kinds = [("isolated",), ("legacy",)]
else:
    import _xxsubinterpreters as interpreters

    kinds = [(), ()]

SOURCE = """
import gc, json, os
def f(n):
    return sum(range(n))
def g(n):
    for k in range(n):
        yield f(k)
for k in range(300):
    list(g(3))
    try:
        1 / 0
    except ZeroDivisionError:
        pass
exec("x = 1")
open(os.devnull).close()
gc.collect()
try:
    import stepscope.native._core
except ImportError as error:
    assert "subinterpreters" in str(error), error
else:
    raise AssertionError("our core counts for one interpreter only")
"""


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def elsewhere():
    import os

    open(os.devnull).close()


for step in range(40):
    work(100)
    if step in (10, 20, 30):
        for kind in kinds:
            other = interpreters.create(*kind)
            interpreters.run_string(other, SOURCE)
            if sys.version_info >= (3, 13):
                interpreters.exec(other, elsewhere)
                interpreters.run_func(other, elsewhere)
                interpreters.exec(other, elsewhere.__code__)
            interpreters.destroy(other)
    stepscope.step()
warnings.filterwarnings("ignore", "remaining subinterpreters")  # what 3.14 says at the end
interpreters.run_string(interpreters.create(), "x = 1")  # it is there until the end
print("done")
