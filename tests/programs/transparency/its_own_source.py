"""Source, frames and stacks as inspect and linecache give them."""

import inspect
import linecache
import sys


def decorate(function):
    return function


@decorate
def documented(a, /, b: int = 2, *args, c, **keywords) -> str:
    """A function with everything."""
    # a comment
    return f"{a}{b}"


class Thing:
    """A class."""

    def method(self):
        return [frame.function for frame in inspect.stack()]

    @property
    def name(self):
        return "thing"


def depth():
    count = 0
    frame = sys._getframe()
    while frame is not None:
        count += 1
        frame = frame.f_back
    return count


def nested(n):
    return nested(n - 1) if n else depth()


def suspended():
    x = 1
    yield x
    y = 2
    yield y


for thing in (documented, Thing, Thing.method, Thing.name.fget, suspended):
    print(inspect.getsource(thing), inspect.getsourcefile(thing), inspect.getsourcelines(thing)[1])
print(inspect.signature(documented), inspect.getdoc(Thing), inspect.getcomments(Thing))
print(Thing().method(), depth(), nested(10), (lambda: depth())(), [depth() for _ in range(2)])
print([(f.filename, f.lineno, f.function, f.code_context) for f in inspect.stack()])
going = suspended()
next(going)
print(going.gi_frame.f_lineno, inspect.getgeneratorstate(going), inspect.getgeneratorlocals(going))
next(going)
print(going.gi_frame.f_lineno, going.gi_code.co_name)
print(linecache.getline(__file__, 1), inspect.signature(exec), exec.__module__, exec.__name__)
print(inspect.isbuiltin(exec), repr(exec), repr(eval), repr(__import__), exec.__doc__)
print(documented.__code__.co_varnames, documented.__code__.co_firstlineno, documented.__defaults__)
print(sorted(set(line for _, _, line in documented.__code__.co_lines() if line)))
print(nested.__code__.co_names, nested.__code__.co_argcount, nested.__code__.co_qualname)
code = documented.__code__
print(code == code.replace(), hash(code) == hash(code.replace()), code.co_flags)
print(sys._getframe().f_code.co_name, sys._getframe().f_lineno, sys._getframe().f_back)
print(list(sys._current_frames().values())[0].f_code.co_name, len(sys._current_frames()))
if sys.version_info >= (3, 12):  # before, the code that runs has our ticks in it
    import dis

    dis.dis(nested)
    print(nested.__code__.co_code.hex(), nested.__code__.co_consts, nested.__code__.co_stacksize)
    dis.dis(nested, adaptive=False, show_caches=True)
