"""Reads, compares, takes apart and rebuilds the code of its own functions."""

import copy
import dis
import gc
import hashlib
import inspect
import io
import marshal
import re
import sys
import traceback
import types
import weakref


def outer(numbers, shift=0.125, *, limit=7):
    """Has nested code, a handler and constants."""

    def inner(number):
        return number + shift

    try:
        return [inner(number) for number in numbers if number < limit]
    finally:
        numbers = None


class Thing:
    def method(self):
        return __class__.__name__ + str((1, 2.5))


async def waits(thing):
    async with thing as entered:
        async for each in entered:
            yield await each


def shares(first):
    second = yield first
    yield from (second, first)


def show(code):
    """All that can be read, without addresses."""
    for name in sorted(dir(code)):
        if name.startswith("co_"):
            value = getattr(code, name)
            value = list(value()) if callable(value) else value
            print(name, re.sub(r"0x[0-9a-f]+", "", repr(value)))
    print(hash(code) == hash(code.replace()), code == code.replace(), sys.getsizeof(code))
    text = io.StringIO()
    dis.dis(code, file=text)
    print(hashlib.sha256(re.sub(r"0x[0-9a-f]+", "", text.getvalue()).encode()).hexdigest())
    print(hashlib.sha256(marshal.dumps(code, 2)).hexdigest())


for function in (outer, Thing.method, waits, shares, show):
    print("---", function.__qualname__)
    show(function.__code__)
    print(inspect.getsource(function) == inspect.getsource(function.__code__))


def again(code, like=outer):
    made = types.FunctionType(code, globals(), "again", like.__defaults__, like.__closure__)
    made.__kwdefaults__ = like.__kwdefaults__
    return made


print("--- replaced")
code = outer.__code__
consts = tuple(0.5 if const == 0.125 else const for const in code.co_consts)
print(again(code)([1, 8]), again(code.replace())([1]), again(code.replace(co_consts=consts))([1]))
print(again(code.replace(co_code=code.co_code, co_name="other"))([2]))
print(again(code.replace(co_linetable=b"", co_firstlineno=1))([2]))
print(again(marshal.loads(marshal.dumps(code)))([3]), copy.deepcopy(code) is code)
fields = (
    "co_argcount co_posonlyargcount co_kwonlyargcount co_nlocals co_stacksize co_flags co_code "
    "co_consts co_names co_varnames co_filename co_name co_qualname co_firstlineno co_linetable "
    "co_exceptiontable co_freevars co_cellvars"
).split()
rebuilt = types.CodeType(*(getattr(code, field) for field in fields))
print(rebuilt == code, hash(rebuilt) == hash(code), again(rebuilt)([4]), {code: 1}[rebuilt])
outer.__code__ = code.replace(co_name="renamed")
print(outer([1, 2]), outer.__code__.co_name)
marshal.loads(marshal.dumps([outer.__code__, {"code": (code,)}]))
outer.__code__ = code

print("--- identity")
made = outer.__code__
nested = next(const for const in made.co_consts if isinstance(const, types.CodeType))
frames = []


def look(number):
    frames.append(sys._getframe())
    return number


look(1)
print(frames[0].f_code is look.__code__, outer.__code__ is made)
print(shares(1).gi_code is shares.__code__, Thing.method.__code__ is Thing().method.__code__)
print(sorted(type(each).__name__ for each in gc.get_referents(code)), nested in made.co_consts)

print("--- compiled, run and dropped")
text = "def f():\n    def g():\n        return 5\n    return g()\nprint(f())\n"
whole = compile(text, __file__, "exec")
space = {}
exec(whole, space)
inside = next(const for const in whole.co_consts if isinstance(const, types.CodeType))
print(inside == space["f"].__code__, hash(inside) == hash(space["f"].__code__))
exec(whole.replace(co_consts=(*whole.co_consts, object())), space)
exec(whole.replace(co_name="named"), space)
exec(space["f"].__code__.replace(co_name="h"), space)
print(eval(compile("f() + 1", __file__, "eval"), space))
alive = weakref.ref(rebuilt)
del rebuilt
print(alive() is None)

print("--- places")


def fails(number):
    shown = [
        number,
        number / (number - number),
    ]
    return shown


try:
    fails(3)
except ZeroDivisionError as error:
    traceback.print_exc(file=sys.stdout)
    at = error.__traceback__
    while at is not None:
        positions = list(at.tb_frame.f_code.co_positions())
        print(at.tb_lasti, at.tb_frame.f_lasti, at.tb_lineno, positions[at.tb_lasti // 2])
        again_at = types.TracebackType(None, at.tb_frame, at.tb_lasti, at.tb_lineno)
        print(again_at.tb_lasti, traceback.format_tb(again_at))
        at = at.tb_next
generator = shares(1)
for value in (None, 2, None):
    generator.send(value)
    print(generator.gi_frame.f_lasti, generator.gi_frame.f_lineno)
print([getattr(shares.__code__, name)() is not None for name in ("co_lines", "co_positions")])
