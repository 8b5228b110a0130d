"""LineProfiler against the real one: the same functions, the same hits, at the right times."""

import contextlib
import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import line_profiler as real
import pytest

import stepscope
from profiled import FIRST, PROGRAMS, Hits, body_hits, hits_of, load, work
from stepscope.launch.options import RecordOptions
from stepscope.line_profiler import LineProfiler
from stepscope.line_profiler.scope import PoliciesLike, ScopingPolicy, to_policies
from stepscope.record import recording


@pytest.fixture(autouse=True)
def profilers_are_gone() -> Iterator[None]:
    """A decorated function holds its profiler, and that the engine, until it is collected."""
    yield
    gc.collect()


def with_both(use: Callable[[Any], Any]) -> tuple[Any, Any, Hits, Hits]:
    """(our result, the real one's, our hits, the real one's)."""
    ours, theirs = LineProfiler(), real.LineProfiler()
    our_result, their_result = use(ours), use(theirs)
    return our_result, their_result, hits_of(ours), hits_of(theirs)


def test_every_kind_of_callable_gives_the_same_results_and_hits() -> None:
    results, real_results, hits, real_hits = with_both(lambda p: load("kinds").run(p))
    assert results == real_results
    assert hits == real_hits


def test_hits_around_finally_are_line_profilers_and_the_programs_own() -> None:
    def use(profiler: Any) -> Any:
        module = load("finally_blocks")
        profiler.add_module(module)
        return profiler.runcall(module.run)

    counted, real_counted, hits, real_hits = with_both(use)
    assert counted == real_counted
    assert hits == real_hits
    lines = (PROGRAMS / "finally_blocks.py").read_text().splitlines()
    by_line = {line: count for rows in hits.values() for line, count in rows.items()}
    for name, count in counted.items():
        (line,) = [n for n, text in enumerate(lines, 1) if f'counts["{name}"]' in text]
        assert by_line[line] == count, name


@pytest.mark.parametrize("policy", [None, *ScopingPolicy])
def test_add_module_takes_the_same_functions_in(policy: ScopingPolicy | None) -> None:
    def use(profiler: Any) -> Any:
        module = load("module_to_add")
        given: PoliciesLike = None if policy is None else policy.value
        if policy is ScopingPolicy.NONE:
            given = {"func": "none", "class": "none", "module": "exact"}
        count = profiler.add_module(module, scoping_policy=given)
        return count, profiler.runcall(module.use_all)

    results, real_results, hits, real_hits = with_both(use)
    assert results == real_results
    assert hits == real_hits


def test_add_class_takes_the_same_methods_in_and_can_wrap_them() -> None:
    def use(profiler: Any) -> Any:
        thing = load("module_to_add").Thing
        count = profiler.add_class(thing, wrap=True)
        return count, thing().method(), thing().prop

    results, real_results, hits, real_hits = with_both(use)
    assert results == real_results
    assert hits == real_hits


def test_a_block_inside_a_profiled_function_counts_what_line_profiler_counts() -> None:
    def use(profiler: Any) -> None:
        namespace: dict[str, Any] = {"profiler": profiler}
        source = (
            "def f():\n    a = 1\n    with profiler:\n        b = 2\n        c = 3\n"
            "    profiler.enable()\n    d = 4\n    profiler.disable()\n    return d\n"
        )
        exec(compile(source, "a_file_of_no_disk.py", "exec"), namespace)
        profiler.add_function(namespace["f"])
        namespace["f"]()
        namespace["f"]()

    _, _, hits, real_hits = with_both(use)
    assert hits == real_hits


def test_functions_of_the_same_name_and_place_are_one() -> None:
    def use(profiler: Any) -> list[int]:
        def made(n: int) -> Callable[[int], int]:
            @profiler  # type: ignore[untyped-decorator]  # either profiler
            def inner(x: int) -> int:
                return x + n

            return inner  # type: ignore[no-any-return]  # as above

        return [made(1)(1), made(2)(2), made(3)(3)]

    results, real_results, hits, real_hits = with_both(use)
    assert results == real_results
    assert hits == real_hits


def test_policies_are_names_in_any_case_one_for_all_or_one_each() -> None:
    assert set(to_policies("Siblings").values()) == {ScopingPolicy.SIBLINGS}
    each = {"func": "none", "class": "exact", "module": ScopingPolicy.CHILDREN}
    assert to_policies(each)["class"] is ScopingPolicy.EXACT
    with pytest.raises(ValueError, match="cousins"):
        to_policies("cousins")


def test_the_name_is_at_the_top_of_the_package() -> None:
    assert stepscope.LineProfiler is LineProfiler


def test_nothing_counts_while_it_is_disabled() -> None:
    profiler = LineProfiler(work)
    work(10)
    assert hits_of(profiler) == {(FIRST, "work"): {}}
    profiler.runcall(work, 3)
    work(10)
    assert body_hits(profiler) == 3
    with profiler:
        work(4)
    work(10)
    assert body_hits(profiler) == 7


def test_enabling_by_count_nests() -> None:
    profiler = LineProfiler(work)
    profiler.enable_by_count()
    profiler.enable_by_count()
    profiler.disable_by_count()
    work(2)
    assert profiler.enable_count == 1
    profiler.disable_by_count()
    work(2)
    profiler.disable_by_count()
    assert profiler.enable_count == 0
    assert body_hits(profiler) == 2


def test_statistics_can_be_asked_for_while_it_counts() -> None:
    profiler = LineProfiler(work)
    with profiler:
        work(2)
        assert body_hits(profiler) == 2
        work(3)
        assert body_hits(profiler) == 5
    assert body_hits(profiler) == 5


def test_two_profilers_at_once_count_each_for_itself() -> None:
    one, two = LineProfiler(work), LineProfiler(work)
    with one:
        work(1)
        with two:
            work(10)
        work(100)
    with two:
        work(1000)
    assert body_hits(one) == 111
    assert body_hits(two) == 1010


def test_a_profiler_at_rest_does_not_see_what_another_counted_meanwhile() -> None:
    one, two = LineProfiler(work), LineProfiler(work)
    for _ in range(3):
        one.runcall(work, 1)
        two.runcall(work, 10)
    assert (body_hits(one), body_hits(two)) == (3, 30)


def test_two_profilers_around_one_function_both_count_it() -> None:
    one, two = LineProfiler(), LineProfiler()

    def inner(n: int) -> int:
        return n

    both = two(one(inner))
    assert both(5) == 5
    assert hits_of(one) == hits_of(two)
    assert sum(hits_of(two).popitem()[1].values()) == 1


def test_a_function_added_while_it_counts_is_counted_from_then_on() -> None:
    profiler = LineProfiler()
    with profiler:
        work(5)
        profiler.add_function(work)
        work(2)
    assert body_hits(profiler) == 2


def test_threads_lose_no_hit() -> None:
    profiler = LineProfiler()
    profiled = profiler(work)
    threads = [threading.Thread(target=profiled, args=(2_000,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert body_hits(profiler) == 16_000


def test_times_are_in_nanoseconds_and_include_callees() -> None:
    profiler = LineProfiler()

    @profiler
    def sleeping() -> None:
        time.sleep(0.05)

    before = time.monotonic_ns()
    sleeping()
    took_ns = time.monotonic_ns() - before
    stats = profiler.get_stats()
    (((_, hits, ns),),) = stats.timings.values()
    assert stats.unit == 1e-9
    assert hits == 1
    assert ns * 1.001 >= 50_000_000
    assert ns <= took_ns * 1.001


def test_run_and_runctx_profile_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    profiler = LineProfiler(work)
    namespace: dict[str, Any] = {"work": work}
    assert profiler.runctx("result = work(4)", namespace, namespace) is profiler
    assert namespace["result"] == 6
    assert body_hits(profiler) == 4
    monkeypatch.setattr(sys.modules["__main__"], "work_of_the_test", work, raising=False)
    profiler.run("work_of_the_test(2)")
    assert body_hits(profiler) == 6


SCRIPT = """
import json, sys
from stepscope.line_profiler import LineProfiler

def work(n):
    total = 0
    for i in range(n):
        total += i
    return total

profiler = LineProfiler(work)
work(100)
profiler.runcall(work, 7)
work(100)
(rows,) = profiler.get_stats().timings.values()
json.dump({line: hits for line, hits, _ in rows}, open(sys.argv[1], "w"))
"""


def test_it_works_while_a_run_is_recorded_and_both_counts_are_right(tmp_path: Path) -> None:
    script, told, run = tmp_path / "script.py", tmp_path / "told.json", tmp_path / "run"
    script.write_text(SCRIPT)
    record = [sys.executable, "-m", "stepscope", "run", "--exact", "--quiet", "-o", str(run)]
    subprocess.run([*record, str(script), str(told)], check=True, capture_output=True)
    assert json.loads(told.read_text()) == {"6": 1, "7": 8, "8": 7, "9": 1}
    show = [sys.executable, "-m", "stepscope", "show", str(run), "lines", "--json"]
    answer = json.loads(subprocess.run(show, check=True, capture_output=True).stdout)
    (function,) = [one for one in answer["functions"] if one["function"] == "work"]
    assert {line["line"]: line["hits"] for line in function["lines"]} == {
        6: 3,
        7: 210,
        8: 207,
        9: 3,
    }


@contextlib.contextmanager
def record_to(folder: Path) -> Iterator[None]:
    recording.start(str(folder), RecordOptions(exact=True), "main", None)
    yield
    recording.stop()


@pytest.mark.parametrize("first", ["profiler", "recording"])
def test_a_recording_that_ends_in_between_takes_no_hit_away(first: str, tmp_path: Path) -> None:
    profiler = LineProfiler(work)
    recorded = record_to(tmp_path)
    outer, inner = (profiler, recorded) if first == "profiler" else (recorded, profiler)
    with outer:
        work(1)
        with inner:
            work(10)
        work(100)
    expected = 111 if first == "profiler" else 10
    assert body_hits(profiler) == expected
    profiler.runcall(work, 1000)
    assert body_hits(profiler) == expected + 1000
