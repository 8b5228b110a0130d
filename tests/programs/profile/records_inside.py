"""Records a block in the middle of a profile; the folder is its argument."""

import sys

import stepscope


def before(n):
    return n + 1


def during(n):
    return n + 2


def after(n):
    return n + 3


def many(function):
    for i in range(10):
        function(i)


profile = stepscope.Profile()
with profile:
    many(before)
    with stepscope.Profiler(sys.argv[1], calls=True):
        many(during)
    many(after)
profile.create_stats()
counted = {
    name: calls for (file, _, name), (_, calls, *_) in profile.stats.items() if file == __file__
}
print(sorted(counted.items()))
