"""Profiles a block of its own, on one thread of two; says what it counted."""

import sys
import threading

import stepscope


def before(n):
    return len(str(n))


def during(n):
    return n if n <= 0 else during(n - 1)


def elsewhere(n):
    return n + 1


def after(n):
    return n + 2


def many(function):
    for i in range(10):
        function(i)


many(before)
profile = stepscope.Profile()
with profile:
    many(during)
    thread = threading.Thread(target=many, args=(elsewhere,))
    thread.start()
    thread.join()
many(after)
counted = {
    entry.code.co_name: (entry.callcount, entry.reccallcount)
    for entry in profile.getstats()
    if not isinstance(entry.code, str) and entry.code.co_filename == __file__
}
print(sorted(counted.items()), sys.getprofile())
