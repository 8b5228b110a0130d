"""Exceptions of every kind, told by the interpreter itself; ends with an uncaught one."""

import sys
import traceback


def divide(a, b):
    return (
        a
        / b
    )


def wrapped():
    try:
        divide(1, 0)
    except ZeroDivisionError as error:
        raise ValueError("chained") from error


class Broken:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        raise RuntimeError("while leaving")


def group():
    errors = []
    for i in range(3):
        try:
            [1, 2][i + 5]
        except IndexError as error:
            error.add_note(f"attempt {i}")
            errors.append(error)
    raise ExceptionGroup("several", errors)


def generator():
    try:
        yield 1
    finally:
        {}["left"]


def in_comprehension():
    return [1 / (2 - x) for x in range(5)]


def with_broken():
    with Broken():
        divide(2, 0)


def in_lambda():
    return (lambda x:
            x.nothing)(3)


def from_generator():
    running = generator()
    next(running)
    running.close()


class Deep:
    class Deeper:
        def method(self):
            exec("raise LookupError('from a string')")


def decorated(function):
    def inner(*args):
        return function(*args)
    return inner


@decorated
def last(n):
    if n:
        return last(n - 1)
    raise Exception("uncaught")


for attempt in (wrapped, with_broken, group, in_comprehension, in_lambda, from_generator,
                Deep.Deeper().method):
    try:
        attempt()
    except Exception:
        traceback.print_exc(file=sys.stdout)
        frames = traceback.extract_tb(sys.exc_info()[2])
        print([(frame.lineno, frame.name, frame.colno, frame.end_colno) for frame in frames])

last(4)
