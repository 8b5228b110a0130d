"""As many distinct functions as the argument says, each called twice."""

import sys

COUNT = int(sys.argv[1])


def make(first, count):
    space = {}
    text = "\n".join(f"def f{i}(): return {i}" for i in range(first, first + count))
    exec(compile(text, "made.py", "exec"), space)
    return [space[f"f{i}"] for i in range(first, first + count)]


def call_all(functions):
    return sum(function() for function in functions)


total = 0
for first in range(0, COUNT, 1000):
    functions = make(first, 1000)
    total += call_all(functions) + call_all(functions)
print(total == COUNT * (COUNT - 1))
