"""Runs programs of this folder one after the other in one process, to load TensorFlow once.

several.py NAME...           as they are
several.py -o OUT NAME...    each recorded into OUT/NAME
"""

import contextlib
import importlib
import os
import sys

sys.path.insert(0, os.getcwd())  # of the programs


def recorded(folder, name):
    import stepscope

    return stepscope.Profiler(os.path.join(folder, name))


def main(names):
    folder = None
    if names[0] == "-o":
        folder, names = names[1], names[2:]
    for name in names:
        print(f"--- {name}")
        main_of = importlib.import_module(name).main
        with recorded(folder, name) if folder else contextlib.nullcontext():
            main_of()


if __name__ == "__main__":
    main(sys.argv[1:])
