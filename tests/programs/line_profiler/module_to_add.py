"""A module whose members are added as a whole."""

from functools import partial
from os.path import join


def outer(n):
    def inner(x):
        return x + 1

    return [inner(i) for i in range(n)]


def _helper(a, b):
    return join(a, b)


shortcut = partial(_helper, "a")


class Thing:
    class Inner:
        def deep(self):
            return 1

    def method(self):
        return self.Inner().deep()

    @property
    def prop(self):
        return 3


def use_all():
    return [outer(3), shortcut("b"), Thing().method(), Thing().prop]
