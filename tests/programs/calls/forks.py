"""A forked child that calls functions of its own."""

import os


def in_parent(n):
    return n


def in_child(n):
    return n and in_child(n - 1)


in_parent(1)
child = os.fork()
if child == 0:
    in_child(9)
    os._exit(0)
os.waitpid(child, 0)
in_parent(2)
