"""Anything that reads code with ticks sees the code without."""

import gc
import hashlib
import io
import marshal
import pickle
import subprocess
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, TracebackType
from typing import Any

import pytest

import needs

if sys.version_info >= (3, 12):
    pytest.skip("ticks in the bytecode are Python 3.11's alone", allow_module_level=True)

from stepscope.native import _core
from stepscope.record.bytecode import originals
from stepscope.record.bytecode.instrument import instrument
from stepscope.record.bytecode.ticked import bind

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


def transform(code: CodeType) -> CodeType:
    """With ticks that nobody is to see, as a recording makes it."""

    def hide(ticked: CodeType, original: CodeType, places: bytes, bare: bytes) -> bool:
        _core.look_like(ticked, original, places, bare)
        return True

    return bind(instrument(code), lambda *what: Unpicklable(), hide)


def load(source: str, *, ticks: bool, name: str = "__main__") -> dict[str, Any]:
    code = compile(source, "<script>", "exec")
    space: dict[str, Any] = {"__name__": name}
    exec(transform(code) if ticks else code, space)
    return space


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    originals.install()
    yield
    originals.uninstall()


def has_ticks(code: CodeType) -> bool:
    return _core.original_code(code) is not code


def test_the_functions_under_test_have_ticks() -> None:
    space = load(SOURCE, ticks=True)
    assert has_ticks(space["outer"].__code__)
    assert not has_ticks(_core.original_code(space["outer"].__code__))
    assert space["outer"]([4.0, 9.0]) == [2.125, 1, 2]


READ = [name for name in dir(CodeType) if name.startswith("co_") and name != "co_consts"]


@pytest.mark.parametrize("attribute", READ)
def test_every_attribute_is_that_of_the_plain_program(attribute: str) -> None:
    def value(code: CodeType) -> Any:
        found = getattr(code, attribute)
        return list(found()) if callable(found) else found

    codes = [load(SOURCE, ticks=ticks)["outer"].__code__ for ticks in (False, True)]
    assert value(codes[1]) == value(codes[0])


def test_constants_are_the_plain_ones_and_the_nested_code_that_runs() -> None:
    plain, code = (load(SOURCE, ticks=ticks)["outer"].__code__ for ticks in (False, True))
    assert code.co_consts == plain.co_consts
    assert [type(const) for const in code.co_consts] == [type(const) for const in plain.co_consts]
    module, space = (
        transform(compile(SOURCE, "<script>", "exec")),
        dict[str, Any](__name__="script"),
    )
    exec(module, space)
    assert any(const is space["outer"].__code__ for const in module.co_consts)


def test_equality_and_hash_are_those_of_the_plain_program() -> None:
    plain = load(SOURCE, ticks=False)["outer"].__code__
    code, other = (load(SOURCE, ticks=True)["outer"].__code__ for _ in range(2))
    assert code == plain
    assert plain == code
    assert code == other
    assert (code != plain) is False
    assert CodeType.__eq__(code, plain) is True
    assert {plain: 1}[code] == 1
    assert CodeType.__hash__(code) == hash(plain) == hash(code)
    assert code != load("def outer(): pass", ticks=True)["outer"].__code__
    assert (code == 1, code != 1) == (False, True)


def test_what_is_made_with_replace_is_plain_and_works() -> None:
    function = load(SOURCE, ticks=True)["outer"]
    code = function.__code__
    changes: list[dict[str, Any]] = [
        {},
        {"co_code": code.co_code},
        {"co_consts": code.co_consts},
        {"co_name": "other", "co_linetable": code.co_linetable},
    ]
    for change in changes:
        made = code.replace(**change)
        assert not has_ticks(made)
        assert made.co_consts == code.co_consts
        copied = FunctionType(made, function.__globals__, "f", function.__defaults__)
        copied.__kwdefaults__ = function.__kwdefaults__
        assert copied([4.0, 9.0]) == [2.125, 1, 2]
    with pytest.raises(TypeError, match="positional"):
        code.replace(1)
    with pytest.raises(TypeError):
        code.replace(no_such_field=1)


def failing(ticks: bool) -> TracebackType:
    function = load("def f(a):\n    b = [a,\n         a / 0]\n    return b", ticks=ticks)["f"]
    with pytest.raises(ZeroDivisionError) as caught:
        function(1)
    found = caught.value.__traceback__
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    assert found is not None
    return found


def test_tracebacks_and_frames_are_where_they_are_in_the_plain_program() -> None:
    plain, ticked = failing(ticks=False), failing(ticks=True)
    assert has_ticks(ticked.tb_frame.f_code)
    assert ticked.tb_lasti == plain.tb_lasti
    assert ticked.tb_frame.f_lasti == plain.tb_frame.f_lasti
    made = TracebackType(None, ticked.tb_frame, ticked.tb_lasti, ticked.tb_lineno)
    assert made.tb_lasti == plain.tb_lasti
    texts = ["".join(traceback.format_tb(each)) for each in (plain, ticked, made)]
    assert texts[0] == texts[1] == texts[2]


def test_a_suspended_generator_is_where_it_is_in_the_plain_program() -> None:
    source = "def f():\n  x = yield 1\n  yield from (2, 3)\n  yield [x,\n    (yield 4)]"

    def places(ticks: bool) -> list[int]:
        generator = load(source, ticks=ticks)["f"]()
        found = [generator.gi_frame.f_lasti]
        for _ in generator:
            found.append(generator.gi_frame.f_lasti)
        return found

    assert places(ticks=True) == places(ticks=False)
    assert len(places(ticks=True)) == 6


def test_code_that_dies_takes_its_twin_along() -> None:
    space = load(SOURCE, ticks=True)
    references = [
        weakref.ref(code)
        for function in (space["outer"], space["Thing"].method)
        for code in (function.__code__, _core.original_code(function.__code__))
    ]
    space.clear()
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)


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
    dumps: Callable[[Any], bytes],
    thing: Callable[[dict[str, Any]], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # cloudpickle gives each class a random id
    monkeypatch.setattr(cloudpickle.cloudpickle, "_get_or_create_tracker_id", lambda cls: "id")
    plain = dumps(thing(load(SOURCE, ticks=False, name="script")))
    assert dumps(thing(load(SOURCE, ticks=True, name="script"))) == plain


def test_an_unpickled_function_works_and_has_no_ticks() -> None:
    space = load(SOURCE, ticks=True, name="script")
    for pickled in (cloudpickle.dumps(space["outer"]), dill.dumps(space["outer"], recurse=True)):
        function = pickle.loads(pickled)
        assert not has_ticks(function.__code__)
        assert function([4.0, 9.0]) == [2.125, 1, 2]


def test_marshal_writes_the_plain_code() -> None:
    plain = load(SOURCE, ticks=False)["outer"].__code__
    code = load(SOURCE, ticks=True)["outer"].__code__
    assert marshal.dumps(code, 2) == marshal.dumps(plain, 2)
    assert marshal.loads(marshal.dumps(code)) == plain
    file = io.BytesIO()
    marshal.dump(code, file)
    assert marshal.loads(file.getvalue()) == plain


def test_marshal_looks_into_containers() -> None:
    plain = load(SOURCE, ticks=False)["outer"].__code__
    code = load(SOURCE, ticks=True)["outer"].__code__
    value = {"codes": [code, (1, code)], "n": 1}
    assert marshal.loads(marshal.dumps(value)) == {"codes": [plain, (1, plain)], "n": 1}
    assert value["codes"] == [code, (1, code)]


def test_marshal_still_refuses_what_it_refused() -> None:
    with pytest.raises(ValueError, match="unmarshallable"):
        marshal.dumps([object()])


def test_marshal_writes_code_that_the_program_built_around_others() -> None:
    code = load(SOURCE, ticks=True)["outer"].__code__
    around = code.replace(co_name="around")
    assert has_ticks(next(const for const in around.co_consts if isinstance(const, CodeType)))
    assert marshal.loads(marshal.dumps(around)) == around
    assert marshal.loads(marshal.dumps({"made": (around,)})) == {"made": (around,)}


def test_uninstall_takes_every_patch_back() -> None:
    patched = [marshal.dumps, marshal.dump]
    originals.uninstall()
    assert [isinstance(each, BuiltinFunctionType) for each in (marshal.dumps, marshal.dump)]
    assert [marshal.dumps, marshal.dump] != patched


NUMBA = """
import sys, types
sys.path[:0] = {path!r}
import record.test_originals as tests
import numba
module = sys.modules["script"] = types.ModuleType("script")
module.__file__ = {script!r}
code = compile(open({script!r}).read(), {script!r}, "exec")
exec(tests.transform(code) if {ticks} else code, vars(module))
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


def test_a_fingerprint_of_the_code_is_that_of_the_plain_program() -> None:
    def fingerprint(space: dict[str, Any]) -> str:
        return hashlib.sha256(dill.dumps(space["outer"].__code__)).hexdigest()

    plain, code = load(SOURCE, ticks=False), load(SOURCE, ticks=True)
    assert fingerprint(code) == fingerprint(plain)
