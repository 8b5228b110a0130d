"""Ticks count exactly the lines that Python's tracing reports, and nothing else changes."""

import gc
import inspect
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, cast

import pytest

if sys.version_info >= (3, 12):
    pytest.skip("ticks in the bytecode are Python 3.11's alone", allow_module_level=True)

from line_profiler import LineProfiler

from record.line_counts import Counts, Place, Ticks, difference, place, programs, run, traced
from stepscope.record.bytecode import instrument, line_starts, ticked
from stepscope.record.bytecode.instrument import TickKind

each_program = pytest.mark.parametrize("program", programs(), ids=lambda path: path.stem)


def plain(code: CodeType) -> CodeType:
    return code


def of(program: Path) -> Callable[[CodeType], bool]:
    return lambda code: code.co_filename.startswith(str(program))


@each_program
def test_ticks_count_what_tracing_reports(program: Path) -> None:
    with traced(of(program)) as expected:
        printed = run(program, plain)
    ticks = Ticks()
    assert run(program, ticks.transform) == printed
    gc.collect()  # ends the generators that a program left unfinished
    assert difference(ticks.hits, expected) == {}
    assert sum(expected.values()) > 0
    assert ticks.skipped == []


@each_program
def test_every_activation_that_begins_also_ends(program: Path) -> None:
    ticks = Ticks()
    run(program, ticks.transform)
    gc.collect()
    assert ticks.running == {}
    assert ticks.wrong == []


@each_program
def test_the_scripts_own_tracing_sees_the_same_lines(program: Path) -> None:
    with traced(of(program)) as expected:
        run(program, plain)
    with traced(of(program)) as seen:
        run(program, Ticks().transform)
    assert difference(seen, expected) == {}


@each_program
def test_ticks_count_what_line_profiler_counts(program: Path) -> None:
    profiled = lines_of_line_profiler(program)
    ticks = Ticks()
    run(program, ticks.transform)
    functions = {key[:3] for key in profiled}
    counted = Counts({key: n for key, n in ticks.hits.items() if key[:3] in functions})
    assert difference(counted, profiled) == {}


def lines_of_line_profiler(program: Path) -> Counts:
    """Of the functions that the program defines at its top level."""
    profiler: Any = LineProfiler()
    where: dict[tuple[str, int, str], tuple[str, str, int]] = {}

    def prepare(code: CodeType) -> CodeType:
        # line_profiler takes functions: make one of each code object that needs no closure
        consts = tuple(
            prepare(const) if isinstance(const, CodeType) else const for const in code.co_consts
        )
        code = code.replace(co_consts=consts)
        if code.co_freevars or code.co_name.startswith("<") or not code.co_flags & 2:
            return code
        function = FunctionType(code, {})
        profiler.add_function(function)
        name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
        where[(code.co_filename, code.co_firstlineno, name)] = place(code, 0)[:3]
        return function.__code__

    profiler.enable()
    try:
        run(program, prepare)
    finally:
        profiler.disable()
    counts = Counts()
    for (file, first_line, name), lines in profiler.get_stats().timings.items():
        known = {key: value for key, value in where.items() if key[:2] == (file, first_line)}
        if len(known) != 1:
            continue  # two functions that begin in one line are one to line_profiler
        (owner,) = known.values()
        assert owner[1].endswith(name.rpartition(".")[2])
        for line, hits, _ in lines:
            counts[(*owner, line)] += hits
    return counts


def test_the_comparison_with_line_profiler_is_not_empty() -> None:
    compared = {p.stem: len(lines_of_line_profiler(p)) for p in programs()}
    assert {name for name, lines in compared.items() if lines == 0} <= {"exec_code", "lambdas"}


# --- what must not change ---------------------------------------------------------------------


def with_ticks(function: Callable[..., Any], ticks: Ticks | None = None) -> FunctionType:
    assert isinstance(function, FunctionType)
    code = (ticks or Ticks()).transform(function.__code__)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def fails(depth: int) -> int:
    if depth:
        try:
            return fails_again(depth - 1)
        finally:
            depth += 1
    with open("/dev/null") as sink:
        found: int = (
            cast(Any, sink).missing
            + {
                "a": 1,
            }["b"]
        )
        return found


fails_again: Callable[[int], int] = fails


def trace_of(function: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(AttributeError) as raised:
        function(*args)
    # the first entry is this function's own line
    entries = traceback.format_tb(raised.tb.tb_next)
    return "".join(entries) + repr(raised.value) + repr(raised.value.__context__)


def test_tracebacks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = trace_of(fails, 3)
    ticked = with_ticks(fails)
    monkeypatch.setattr(sys.modules[__name__], "fails_again", ticked)
    assert trace_of(ticked, 3) == expected
    assert expected.count("fails_again(depth - 1)") == 3
    assert "^" in expected


def documented(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: int) -> int:
    """A docstring."""
    return a + b + c


def test_what_inspection_shows_is_the_same() -> None:
    ticked = with_ticks(documented)
    before, after = documented.__code__, ticked.__code__
    assert inspect.signature(ticked) == inspect.signature(documented, eval_str=True).replace(
        parameters=[
            p.replace(annotation=p.empty) for p in inspect.signature(documented).parameters.values()
        ],
        return_annotation=inspect.Signature.empty,
    )
    assert ticked.__doc__ is documented.__doc__
    assert inspect.getsource(ticked) == inspect.getsource(documented)
    for name in ("co_names", "co_varnames", "co_flags", "co_firstlineno", "co_qualname"):
        assert getattr(after, name) == getattr(before, name)
    assert {line for *_, line in after.co_lines()} - {None} == {
        line for *_, line in before.co_lines()
    } - {None}
    assert after.co_consts[: len(before.co_consts)] == before.co_consts


def test_columns_of_the_original_instructions_are_kept() -> None:
    before = set(fails.__code__.co_positions())
    after = set(with_ticks(fails).__code__.co_positions())
    assert before <= after
    first = fails.__code__.co_firstlineno
    before_the_copy = (first, first, None, None)
    assert after - before <= {(None, None, None, None), before_the_copy}


def dive(depth: int) -> int:
    try:
        return deeper(depth + 1)
    except RecursionError:
        return depth


deeper: Callable[[int], int] = dive


def test_recursion_goes_as_deep_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    made = instrument.instrument(dive.__code__)
    # a plain number is a tick that costs no Python call, as the real one
    code = ticked.bind(made, lambda code, kind, line: line, lambda *what: True)
    counted = FunctionType(code, globals())
    functions: list[Callable[[int], int]] = [dive, counted]
    depths = []
    for function in functions:
        monkeypatch.setattr(sys.modules[__name__], "deeper", function)
        depths.append(function(0))
    assert depths[0] == depths[1] > 500


def echo() -> Any:
    got = None
    while True:
        try:
            got = yield got
        except ValueError as error:
            got = error


def delegating() -> Any:
    return (yield from echo())


def test_throw_and_close_pass_through_a_delegating_generator() -> None:
    generator = with_ticks(delegating)()
    next(generator)
    assert generator.send(5) == 5
    error = ValueError("x")
    assert generator.throw(error) is error
    assert generator.gi_yieldfrom is not None
    generator.close()
    assert generator.gi_frame is None


def test_the_tick_of_an_exit_precedes_every_way_out() -> None:
    kinds: list[tuple[int, int]] = []

    class Noted(Ticks):
        def tick(self, frame: Any, code: CodeType, kind: int, line: int) -> None:
            kinds.append((kind, line))

    def ways(how: str) -> Any:
        if how == "raise":
            raise KeyError(how)
        return how

    ticked = with_ticks(ways, Noted())
    ticked("return")
    assert kinds[-1][0] == TickKind.EXIT
    assert [kind for kind, _ in kinds] == [0, 0, 1]
    kinds.clear()
    with pytest.raises(KeyError):
        ticked("raise")
    assert [kind for kind, _ in kinds] == [0, 0, 1]


def test_a_resumed_generator_ticks_with_the_line_of_its_yield() -> None:
    kinds: list[tuple[int, int]] = []

    class Noted(Ticks):
        def tick(self, frame: Any, code: CodeType, kind: int, line: int) -> None:
            kinds.append((kind, line - code.co_firstlineno))

    def pair() -> Any:
        first = yield 1
        return first

    generator = with_ticks(pair, Noted())()
    next(generator)
    assert kinds == [(0, 1), (1, -pair.__code__.co_firstlineno)]
    kinds.clear()
    with pytest.raises(StopIteration):
        next(generator)
    assert [kind for kind, _ in kinds] == [3, 0, 1]
    assert [line for _, line in kinds[:2]] == [1, 2]


# --- the calls ----------------------------------------------------------------------------------


def test_placeholders_can_be_marshalled_and_bound_later() -> None:
    import marshal

    made = instrument.instrument(compile("x = [y\n for y in (1, 2)]", "<t>", "exec"))
    assert marshal.loads(marshal.dumps(made.code)) == made.code
    assert marshal.loads(marshal.dumps(made.rewritten)) == made.rewritten
    assert ticked.rebuild(made.original, made.rewritten) == made.code


def test_on_code_sees_nested_code_first_with_its_original() -> None:
    original = compile("def f():\n  def g(): pass\n  return g", "<t>", "exec")
    seen: list[tuple[CodeType, CodeType]] = []

    def see(new: CodeType, old: CodeType, *places: bytes) -> bool:
        seen.append((new, old))
        return True

    bound = ticked.bind(instrument.instrument(original), lambda *what: 1, see)
    assert [old.co_name for _, old in seen] == ["g", "f", "<module>"]
    assert seen[-1] == (bound, original)
    assert seen[0][0] in seen[1][0].co_consts
    assert seen[0][1] is seen[1][1].co_consts[seen[1][0].co_consts.index(seen[0][0])]


def test_code_that_is_refused_stays_as_it_was_around_nested_code_with_ticks() -> None:
    original = compile("def f():\n  return 1\nx = f()", "<t>", "exec")
    made = instrument.instrument(original)
    bound = ticked.bind(made, lambda *what: 1, lambda new, *_: new.co_name == "f")
    assert (bound.co_code, bound.co_linetable) == (original.co_code, original.co_linetable)
    assert len(bound.co_consts[0].co_code) > len(original.co_consts[0].co_code)
    assert ticked.bind(made, lambda *what: 1, lambda *what: False) is original


def test_code_that_cannot_be_rewritten_stays_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_flow = line_starts.read_flow

    def refuse(code: CodeType) -> line_starts.Flow:
        if code.co_name == "bad":
            raise ValueError("strange bytecode")
        return read_flow(code)

    monkeypatch.setattr(instrument, "read_flow", refuse)
    source = "def bad():\n  return [x for x in 'ab']\ndef good():\n  return 1\n"
    ticks = Ticks()
    space: dict[str, Any] = {}
    exec(ticks.transform(compile(source, "<t>", "exec")), space)
    assert space["bad"]() == ["a", "b"]
    assert space["good"]() == 1
    assert ticks.skipped == ["bad (<t>:1): ValueError: strange bytecode"]
    lines: set[Place] = set(ticks.hits)
    assert {name for _, name, _, _ in lines} == {"<module>", "good", "bad.<locals>.<listcomp>"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "suite",
    ["test_generators test_contextlib test_with", "test_coroutines test_asyncgen", "test_patma",
     "test_exceptions test_except_star test_raise", "test_json test_configparser"],
)  # fmt: skip
def test_the_standard_librarys_own_tests_count_alike(suite: str) -> None:
    checker = Path(__file__).parent / "standard_library.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(checker), *suite.split()],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
