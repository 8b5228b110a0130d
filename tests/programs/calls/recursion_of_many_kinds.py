"""Recursion: direct, mutual, through a builtin, through a generator, and of two functions at once."""

import functools


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def ping(n):
    return n if n <= 0 else pong(n - 1)


def pong(n):
    return n if n <= 0 else ping(n - 2) + ping(n - 3)


def depth(tree):
    return 1 + max(map(depth, tree), default=0)


def leaves(tree):
    if not tree:
        yield 1
    for branch in tree:
        yield from leaves(branch)


@functools.lru_cache(maxsize=None)
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def sort_deeply(value, level):
    return sorted([3, 1, 2], key=lambda x: x if level == 0 else sum(sort_deeply(x, level - 1)))


TREE = [[], [[], [[], []]], [[[[]]]]]
print(fib(12), ping(12), depth(TREE), sum(leaves(TREE)), cached(30), len(sort_deeply(0, 3)))
