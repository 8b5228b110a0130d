"""Exceptions that pass frames: Python's, C functions', caught at many levels, in finally and with."""


def fails(n):
    if n == 0:
        return int("no number")
    return fails(n - 1)


def catches(n):
    try:
        fails(n)
    except ValueError as error:
        return str(error)


def finally_calls():
    try:
        [].pop()
    except IndexError:
        return max(1, 2)
    finally:
        min(1, 2)


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *about):
        return isinstance(about[1], ZeroDivisionError)


def chained():
    try:
        try:
            {}["missing"]
        except KeyError as error:
            raise RuntimeError("again") from error
    except RuntimeError as error:
        return repr(error.__cause__)


def too_deep(n):
    return too_deep(n + 1)


print(catches(0), catches(5), finally_calls(), chained())
with Swallows():
    1 / 0
for value in ("1", "x", "2"):
    try:
        int(value, 16), str.upper(value), str.join(*value)
    except (TypeError, ValueError):
        len(value)
try:
    getattr(object(), "nothing")
except AttributeError:
    hasattr(object(), "nothing")
