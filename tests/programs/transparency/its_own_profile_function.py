"""sys.setprofile and threading.setprofile: every event, in every file, in order."""

import gc
import importlib
import os
import sys
import warnings

import sched  # fills the caches of the import machinery
import threading

sys.dont_write_bytecode = True  # or the first run of all would do what later ones need not

events = []


def profiler(frame, event, argument):
    name = argument.__qualname__ if event.startswith("c_") else frame.f_code.co_qualname
    events.append((os.path.basename(frame.f_code.co_filename), event, name, frame.f_lineno))


def generator():
    yield 1
    yield 2


def work():
    with open(__file__) as file:
        file.readline()
    list(generator())
    import colorsys
    import importlib

    importlib.import_module("this" if False else "stringprep")
    exec("x = 1")
    exec(compile("a = 1\nb = 2", __file__, "exec"))
    gc.collect()
    try:
        len(5)
    except TypeError:
        pass
    return colorsys


gc.disable()
sys.setprofile(profiler)
work()
sys.setprofile(None)
threading.setprofile(profiler)
thread = threading.Thread(target=work)
thread.start()
thread.join()
threading.setprofile(None)
print(sys.getprofile())
for event in events:
    print(event)
