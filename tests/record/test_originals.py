"""Anything that reads code objects gets the one without ticks."""

import hashlib
import io
import marshal
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

import needs

if sys.version_info >= (3, 12):
    pytest.skip("ticks in the bytecode are Python 3.11's alone", allow_module_level=True)

from stepscope.record.bytecode import originals
from stepscope.record.bytecode.instrument import bind, instrument

cloudpickle: Any = needs.module("cloudpickle")
dill: Any = needs.module("dill")

SOURCE = '''
import math
LIMIT = 7.25
def outer(x, y=(1, 2), *, z="text with spaces"):
    """A docstring that is long enough."""
    def inner(w):
        return [math.sqrt(v) + 0.125 for v in w if v < LIMIT]
    try:
        return inner(x) + list(y)
    finally:
        z = None
class Thing:
    def method(self):
        return super().__repr__() + str(LIMIT)
'''


class Unpicklable:
    """A tick: any code that sees one fails."""

    def __invert__(self) -> None: ...

    def __reduce__(self) -> Any:
        raise TypeError("a tick was pickled")


class Ticked:
    """The same source with and without ticks, and the way back."""

    def __init__(self) -> None:
        self._originals: dict[int, tuple[CodeType, CodeType]] = {}

    def original(self, code: CodeType) -> CodeType:
        return self._originals.get(id(code), (code, code))[1]

    def transform(self, code: CodeType) -> CodeType:
        def remember(new: CodeType, old: CodeType) -> None:
            self._originals[id(new)] = (new, old)

        return bind(instrument(code), lambda *what: Unpicklable(), remember)

    def load(self, source: str, *, ticks: bool, name: str = "__main__") -> dict[str, Any]:
        code = compile(source, "<script>", "exec")
        space: dict[str, Any] = {"__name__": name}
        exec(self.transform(code) if ticks else code, space)
        return space


@pytest.fixture
def ticked() -> Iterator[Ticked]:
    made = Ticked()
    originals.install(made.original)
    yield made
    originals.uninstall()


def has_ticks(code: CodeType) -> bool:
    return any(
        isinstance(const, Unpicklable) or (isinstance(const, CodeType) and has_ticks(const))
        for const in code.co_consts
    )


def test_the_functions_under_test_have_ticks(ticked: Ticked) -> None:
    space = ticked.load(SOURCE, ticks=True)
    assert has_ticks(space["outer"].__code__)
    assert not has_ticks(ticked.original(space["outer"].__code__))
    assert space["outer"]([4.0, 9.0]) == [2.125, 1, 2]


PICKLERS: list[Callable[[Any], bytes]] = [
    cloudpickle.dumps,
    dill.dumps,
    lambda thing: dill.dumps(thing, recurse=True),
    lambda thing: dill.dumps(thing, byref=False, protocol=2),
    lambda thing: cloudpickle.dumps(thing, protocol=4),
]
THINGS: list[Callable[[dict[str, Any]], Any]] = [
    lambda space: space["outer"],
    lambda space: space["Thing"],
    lambda space: [space["outer"], space["outer"], space["Thing"]().method],
    lambda space: (lambda f: (f, FunctionType(f.__code__, f.__globals__, "g")))(space["outer"]),
]


@pytest.mark.parametrize("dumps", PICKLERS)
@pytest.mark.parametrize("thing", THINGS)
def test_pickles_are_those_of_the_plain_program(
    ticked: Ticked,
    dumps: Callable[[Any], bytes],
    thing: Callable[[dict[str, Any]], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # cloudpickle gives each class a random id
    monkeypatch.setattr(cloudpickle.cloudpickle, "_get_or_create_tracker_id", lambda cls: "id")
    plain = dumps(thing(ticked.load(SOURCE, ticks=False, name="script")))
    assert dumps(thing(ticked.load(SOURCE, ticks=True, name="script"))) == plain


def test_an_unpickled_function_works_and_has_no_ticks(ticked: Ticked) -> None:
    space = ticked.load(SOURCE, ticks=True, name="script")
    for pickled in (cloudpickle.dumps(space["outer"]), dill.dumps(space["outer"], recurse=True)):
        function = pickle.loads(pickled)
        assert not has_ticks(function.__code__)
        assert function([4.0, 9.0]) == [2.125, 1, 2]


def test_marshal_writes_the_plain_code(ticked: Ticked) -> None:
    plain = ticked.load(SOURCE, ticks=False)["outer"].__code__
    code = ticked.load(SOURCE, ticks=True)["outer"].__code__
    assert marshal.dumps(code, 2) == marshal.dumps(plain, 2)
    assert marshal.loads(marshal.dumps(code)) == plain
    file = io.BytesIO()
    marshal.dump(code, file)
    assert marshal.loads(file.getvalue()) == plain


def test_marshal_looks_into_containers(ticked: Ticked) -> None:
    plain = ticked.load(SOURCE, ticks=False)["outer"].__code__
    code = ticked.load(SOURCE, ticks=True)["outer"].__code__
    value = {"codes": [code, (1, code)], "n": 1}
    assert marshal.loads(marshal.dumps(value)) == {"codes": [plain, (1, plain)], "n": 1}
    assert value["codes"] == [code, (1, code)]


def test_marshal_still_refuses_what_it_refused(ticked: Ticked) -> None:
    with pytest.raises(ValueError, match="unmarshallable"):
        marshal.dumps([object()])


def test_uninstall_takes_every_patch_back() -> None:
    tables = (cloudpickle.cloudpickle.Pickler._dispatch_table, dill.Pickler.dispatch)
    before = [marshal.dumps, marshal.dump, cloudpickle.cloudpickle._extract_code_globals]
    entries = [table[CodeType] for table in tables]
    originals.install(lambda code: code)
    assert marshal.dumps is not before[0]
    assert [table[CodeType] for table in tables] != entries
    originals.uninstall()
    after = [marshal.dumps, marshal.dump, cloudpickle.cloudpickle._extract_code_globals]
    assert after == before
    assert [table[CodeType] for table in tables] == entries


def test_a_module_is_patched_when_it_comes_and_only_once(
    ticked: Ticked, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "torch._dynamo.bytecode_transformation"
    module = ModuleType(name)
    seen: list[CodeType] = []

    def cleaned_instructions(code: CodeType, safe: bool = False) -> list[str]:
        seen.append(code)
        return ["instruction"]

    vars(module)["cleaned_instructions"] = cleaned_instructions
    originals.uninstall()
    monkeypatch.delitem(sys.modules, name, raising=False)
    originals.install(ticked.original)
    originals.patch(name)  # not there yet
    monkeypatch.setitem(sys.modules, name, module)
    originals.patch(name)
    patched = module.cleaned_instructions
    originals.patch(name)
    assert module.cleaned_instructions is patched is not cleaned_instructions
    code = ticked.transform(compile("x = 1", "<t>", "exec"))
    assert patched(code, safe=True) == ["instruction"]
    assert not has_ticks(seen[0])
    originals.uninstall()
    assert module.cleaned_instructions is cleaned_instructions
    patched(code)  # a copy that someone took meanwhile
    assert seen[1] is code


def test_unknown_modules_and_unknown_versions_are_left_alone(
    ticked: Ticked, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals.patch("json")
    for name in originals.WATCHED:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        originals.patch(name)


NUMBA = """
import sys, types
sys.path[:0] = {path!r}
import record.test_originals as tests
from stepscope.record.bytecode import originals
made = tests.Ticked()
originals.install(made.original)
import numba
for name in sorted(originals.WATCHED):
    originals.patch(name)
module = sys.modules["script"] = types.ModuleType("script")
module.__file__ = {script!r}
code = compile(open({script!r}).read(), {script!r}, "exec")
exec(made.transform(code) if {ticks} else code, vars(module))
assert tests.has_ticks(module.total.py_func.__code__) == {ticks}
print(module.total(10), module.scaled(3.0))
print(list(module.total.stats.cache_hits.values()))
"""
NUMBA_SCRIPT = """
import numba


@numba.njit(cache=True)
def total(n):
    s = 0.0
    for i in range(n):
        if i % 2:
            s += i
        else:
            s -= 0.5
    return s


def make(factor):
    @numba.njit
    def scaled(x):
        y = x * factor
        return y + total(4)
    return scaled


scaled = make(2.0)
"""


def test_numba_compiles_functions_with_ticks_and_shares_its_cache(tmp_path: Path) -> None:
    needs.module("numba")
    script = tmp_path / "script.py"
    script.write_text(NUMBA_SCRIPT)
    folders = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)]

    def run(ticks: bool) -> str:
        program = NUMBA.format(path=folders, script=str(script), ticks=ticks)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    plain, cached = run(ticks=False), run(ticks=True)
    assert plain.splitlines()[0] == cached.splitlines()[0] == "22.5 9.0"
    assert plain.splitlines()[1] == "[]"
    assert cached.splitlines()[1] != "[]", "numba compiled again: its key saw the ticks"


def test_a_fingerprint_of_the_code_is_that_of_the_plain_program(ticked: Ticked) -> None:
    def fingerprint(space: dict[str, Any]) -> str:
        return hashlib.sha256(dill.dumps(space["outer"].__code__)).hexdigest()

    plain, code = ticked.load(SOURCE, ticks=False), ticked.load(SOURCE, ticks=True)
    assert fingerprint(code) == fingerprint(plain)
