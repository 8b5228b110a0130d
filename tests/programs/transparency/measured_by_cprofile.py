"""cProfile and profile: the same functions, called as often."""

import cProfile
import importlib
import os
import profile as slow_profile
import pstats
import sys
import warnings

sys.dont_write_bytecode = True  # or the first run of all would do what later ones need not


def leaf(n):
    return [i * 2 for i in range(n)]


def generator(n):
    for i in range(n):
        yield leaf(i)


def recursive(n):
    return n and recursive(n - 1)


def work(module):
    for part in generator(5):
        sorted(part)
    recursive(10)
    with open(__file__) as file:
        len(file.read())
    exec("recursive(3)", globals())
    exec(compile("recursive(2)\nleaf(3)", __file__, "exec"), globals())
    __import__(module)
    return len(sys.argv)


def show(profiler):
    stats = pstats.Stats(profiler).stats
    for (file, line, name), (primitive, calls, _, _, callers) in sorted(stats.items()):
        print(os.path.basename(file), line, name, primitive, calls,
              sorted((os.path.basename(c[0]), c[1], c[2]) for c in callers))


profiler = cProfile.Profile()
profiler.runcall(work, "colorsys")
show(profiler)
with cProfile.Profile() as inside:
    import importlib

    importlib.import_module("stringprep")
    import quopri
show(inside)
slow = slow_profile.Profile(bias=0)
slow.runcall(work, "chunk" if sys.version_info < (3, 13) else "netrc")
show(slow)
print(sys.getprofile())
