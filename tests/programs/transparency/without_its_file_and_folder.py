"""Deletes its own file and its folder, and goes on elsewhere."""

import os
import shutil
import sys
import tempfile

sys.path.insert(0, "relative")


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


here = os.getcwd()
os.unlink(__file__)
print(work(10), os.path.exists(__file__))
away = tempfile.mkdtemp()
os.chdir(away)
shutil.rmtree(away)
try:
    os.getcwd()
except FileNotFoundError as error:
    print(error.errno)
exec(compile("def g(n):\n    for i in range(n):\n        n += 1\n    return n\nprint(g(3))",
             __file__, "exec"))
try:
    open("nothing")
except FileNotFoundError as error:
    print(error)
import colorsys

print(colorsys.ONE_SIXTH, work(100))
work("x")
