"""Profiles the same thing with cProfile and with ours, to compare what was counted."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from clean_environment import environment
from transparency.both import PATIENCE_S

PROGRAMS = Path(__file__).parents[1] / "programs"

Function = tuple[str, int, str]  # file, first line, name
Counted = tuple[int, int]  # calls, recursive calls
Timed = tuple[int, int, float, float]  # and total and own time
Times = tuple[dict[Function, Timed], dict[tuple[Function, Function], Timed]]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_DISABLE = re.compile(r"^<method 'disable' of '_lsprof.Profiler' objects>$")

# Both modules are loaded either way, so that the program imports the same. Garbage collection is
# off: when it happens depends on what else was allocated.
IN_A_PROCESS = """
import gc, json, sys
import cProfile, stepscope.profile
which, path, out = sys.argv[1:4]
sys.argv = [path]
gc.disable()
profile = {"theirs": cProfile, "ours": stepscope.profile}[which].Profile()
code = compile(open(path).read(), path, "exec")
try:
    profile.runctx(code, {"__name__": "__main__", "__file__": path}, None)
except SystemExit:
    pass
def label(code):
    return ("~", 0, code) if isinstance(code, str) else (
        code.co_filename, code.co_firstlineno, code.co_name)
rows = [
    (label(e.code), e.callcount, e.reccallcount,
     [(label(s.code), s.callcount, s.reccallcount) for s in e.calls or ()])
    for e in profile.getstats()
]
json.dump(rows, open(out, "w"))
"""


def label(code: Any) -> Function:
    if isinstance(code, str):
        return "~", 0, _ADDRESS.sub("", code)
    return code.co_filename, code.co_firstlineno, code.co_name


class Calls:
    """For all functions and all pairs of caller and callee; those with the same name are summed."""

    def __init__(self) -> None:
        self.functions: dict[Function, Counted] = {}
        self.pairs: dict[tuple[Function, Function], Counted] = {}

    def add(self, function: Any, calls: int, inner: int, callees: Iterable[Any]) -> None:
        caller = _clean(function)
        if _DISABLE.match(caller[2]):
            return
        _sum(self.functions, caller, (calls, inner))
        for callee, by_it, inner_by_it in callees:
            if not _DISABLE.match(callee[2]):
                _sum(self.pairs, (caller, _clean(callee)), (by_it, inner_by_it))


def _clean(function: Any) -> Function:
    file, line, name = function
    return file, line, _ADDRESS.sub("", name)


def _sum(counted: dict[Any, Counted], key: Any, more: Counted) -> None:
    before = counted.get(key, (0, 0))
    counted[key] = before[0] + more[0], before[1] + more[1]


def calls_of_program(which: str, path: Path, folder: Path) -> Calls:
    """Counts of a script that is run to its end; `which` is "theirs" or "ours"."""
    out = folder / f"{which}.json"
    words = [sys.executable, "-c", IN_A_PROCESS, which, str(path), str(out)]
    subprocess.run(words, cwd=folder, env=environment(), check=True, timeout=PATIENCE_S,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    found = Calls()
    for row in json.loads(out.read_text()):
        found.add(*row)
    return found


def times_of(profile: Any) -> Times:
    """Everything that `getstats` returns, without the call that ends cProfile."""
    functions: dict[Function, Timed] = {}
    pairs: dict[tuple[Function, Function], Timed] = {}
    for entry in profile.getstats():
        if _DISABLE.match(label(entry.code)[2]):
            continue
        assert label(entry.code) not in functions, "choose a program without two of one name"
        functions[label(entry.code)] = _figures(entry)
        for callee in entry.calls or ():
            if not _DISABLE.match(label(callee.code)[2]):
                pairs[label(entry.code), label(callee.code)] = _figures(callee)
    return functions, pairs


def _figures(entry: Any) -> Timed:
    return entry.callcount, entry.reccallcount, entry.totaltime, entry.inlinetime


def fake_clock() -> Callable[[], int]:
    """Advances by one more at each reading: the same number of readings gives the same times."""
    readings = iter(range(10**9))
    total = 0

    def read() -> int:
        nonlocal total
        total += next(readings)
        return total

    return read
