"""Counts a program's calls twice, in separate processes: under cProfile and under stepscope."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from clean_environment import environment
from stepscope.analyze.code.functions import functions
from stepscope.analyze.run import load
from stepscope.model import FunctionsAnswer
from stepscope.show.exporters.pstats import stats_of
from transparency.both import PATIENCE_S

PROGRAMS = Path(__file__).parent.parent / "programs"

Function = tuple[str, int, str]  # file, first line, plain name
Counted = tuple[int, int]  # calls, primitive calls

# Sums functions with the same name; cProfile's own report keeps only the last of them.
UNDER_CPROFILE = """
import cProfile, json, sys
path = sys.argv.pop(1)
sys.argv = sys.argv[1:]
code = compile(open(path).read(), path, "exec")
profile = cProfile.Profile()
try:
    profile.runctx(code, {"__name__": "__main__", "__file__": path}, None)
except SystemExit:
    pass
def label(code):
    return ("~", 0, code) if isinstance(code, str) else (
        code.co_filename, code.co_firstlineno, code.co_name)
functions, pairs = [], []
for entry in profile.getstats():
    functions.append((label(entry.code), entry.callcount, entry.reccallcount))
    for inner in entry.calls or ():
        pairs.append((label(entry.code), label(inner.code), inner.callcount, inner.reccallcount))
json.dump([functions, pairs], open(sys.argv[0], "w"))
"""


_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Calls:
    """Of the program's own functions, and of those they call."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self.functions: dict[Function, Counted] = {}
        self.pairs: dict[tuple[Function, Function], Counted] = {}

    def add(self, function: Any, calls: int, primitive: int) -> None:
        key: Function = tuple(function)
        if key[0] == self._path:
            before = self.functions.get(key, (0, 0))
            self.functions[key] = before[0] + calls, before[1] + primitive

    def add_pair(self, caller: Any, callee: Any, calls: int, primitive: int) -> None:
        file, line, name = callee
        key = tuple(caller), (file, line, _ADDRESS.sub("", name))
        # A module that the recorder needed itself is there already, and not imported again.
        if key[0][0] == self._path and not file.startswith("<frozen importlib"):
            before = self.pairs.get(key, (0, 0))
            self.pairs[key] = before[0] + calls, before[1] + primitive


def under_cprofile(path: Path, folder: Path) -> Calls:
    out = folder / "cprofile.json"
    words = [sys.executable, "-c", UNDER_CPROFILE, str(path), str(out)]
    subprocess.run(words, cwd=folder, env=environment(), check=True, timeout=PATIENCE_S,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    found = Calls(path)
    functions, pairs = json.loads(out.read_text())
    for function, calls, inner in functions:
        found.add(function, calls, calls - inner)
    for caller, callee, calls, inner in pairs:
        found.add_pair(caller, callee, calls, calls - inner)
    return found


def record(path: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "stepscope", "run", "--calls", "--quiet"]
    return subprocess.run(
        [*words, "-o", str(folder / "run"), str(path), *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def answer_of(folder: Path) -> FunctionsAnswer:
    return functions(load(folder / "run"))


def under_stepscope(path: Path, folder: Path) -> Calls:
    done = record(path, folder)
    assert done.returncode == 0, done.stderr
    found = Calls(path)
    stats = stats_of(answer_of(folder).functions, cwd=str(folder))
    for function, (primitive, calls, _, _, callers) in stats.items():
        found.add(function, calls, primitive)
        for caller, (by_it, first_by_it, _, _) in callers.items():
            found.add_pair(caller, function, by_it, first_by_it)
    return found
