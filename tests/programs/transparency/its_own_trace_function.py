"""sys.settrace and threading.settrace: every event, in every file, in order."""

import collections
import importlib
import os
import sys
import warnings

import sched  # fills the caches of the import machinery
import threading

sys.dont_write_bytecode = True  # or the first run of all would do what later ones need not

HERE = os.path.basename(__file__)
mine, elsewhere = [], collections.Counter()


def tracer(frame, event, argument):
    name = os.path.basename(frame.f_code.co_filename)
    if name == HERE:
        mine.append((event, frame.f_code.co_name, frame.f_lineno))
        frame.f_trace_opcodes = frame.f_code.co_name == "opcodes" and sys.version_info >= (3, 12)
    else:
        elsewhere[name, event, frame.f_code.co_name, frame.f_lineno] += 1
    return tracer


def generator():
    try:
        yield 1
        yield 2
    finally:
        pass


def opcodes(a, b):
    return a + b


def raising():
    try:
        raise KeyError
    except KeyError:
        return [x for x in range(3)]


def work():
    with open(__file__) as file:
        file.readline()
    for value in generator():
        raising()
    opcodes(1, 2)
    import colorsys
    import importlib

    importlib.import_module("sndhdr" if sys.version_info < (3, 13) else "stringprep")
    exec("x = 1\ny = 2")
    exec(compile("a = 1\nb = 2", __file__, "exec"))
    eval("[i for i in range(3)]")
    sorted([3, 1], key=lambda v: v)
    return colorsys


sys.settrace(tracer)
work()
sys.settrace(None)
threading.settrace(tracer)
thread = threading.Thread(target=raising)
thread.start()
thread.join()
threading.settrace(None)
before = len(mine)
work()
print(len(mine) == before, sys.gettrace())
for event in mine:
    print(event)
for place, count in sorted(elsewhere.items()):
    print(place, count)


def jumps():
    a = 1
    a = 2
    a = 3
    return a


def jump(frame, event, argument):
    if event == "line" and frame.f_code.co_name == "jumps" and frame.f_lineno == FIRST + 2:
        frame.f_lineno = FIRST + 3
    return jump


FIRST = jumps.__code__.co_firstlineno
sys.settrace(jump)
print(jumps())
sys.settrace(None)
