"""What `stepscope.Profile` says: pstats' table, files, dict; `run` and `runctx`."""

import cProfile
import io
import pstats
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile import Profile, run, runctx


def leaf(n: int) -> int:
    return n + 1


def work(n: int) -> int:
    return sum(leaf(i) for i in range(n))


def twice(n: int) -> int:
    return work(n) + work(n)


def table(print_stats: Callable[[], object]) -> list[str]:
    """The printed table without its times."""
    out = io.StringIO()
    with redirect_stdout(out):
        print_stats()
    return [re.sub(r"\d+\.\d{3}\b", "T", line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("sort", ["name", 2, ("calls", "name")])
def test_the_table_is_cprofiles(sort: Any) -> None:
    ours, theirs = Profile(), cProfile.Profile()
    ours.runcall(twice, 3)
    theirs.runcall(twice, 3)
    printed = table(lambda: ours.print_stats(sort))
    if not isinstance(sort, tuple) or sys.version_info >= (3, 13):
        expected = table(lambda: theirs.print_stats(sort))
        assert int(printed[0].split()[0]) == int(expected[0].split()[0]) - 1
        rows = [line for line in expected[1:] if "disable" not in line]
        assert sorted(printed[1:]) == sorted(rows)
    assert any("(leaf)" in line for line in printed)


def test_pstats_takes_the_profile_and_its_file(tmp_path: Path) -> None:
    profile = Profile()
    profile.runcall(twice, 3)
    file = tmp_path / "out.prof"
    profile.dump_stats(file)
    from_file: Any = pstats.Stats(str(file))
    from_object: Any = pstats.Stats(profile)  # type: ignore[arg-type]  # whatever creates stats
    assert from_file.stats == from_object.stats
    assert from_file.total_calls == 19
    ((_, calls, _, _, callers),) = (
        figures for (_, _, name), figures in from_file.stats.items() if name == "work"
    )
    assert calls == 2
    assert [name for _, _, name in callers] == ["twice"]


def test_functions_of_one_name_and_place_are_summed() -> None:
    def make() -> Callable[[], int]:
        space: dict[str, Any] = {}
        exec(compile("def same(): return len('')", "same.py", "exec"), space)
        made: Callable[[], int] = space["same"]
        return made

    profile = Profile()
    for function in (make(), make(), make()):
        profile.runcall(function)
    profile.create_stats()
    primitive, calls, _, _, _ = profile.stats["same.py", 1, "same"]
    assert (primitive, calls) == (3, 3)
    callers = profile.stats["~", 0, "<built-in method builtins.len>"][4]
    assert callers["same.py", 1, "same"][:2] == (3, 3)


def test_run_and_runctx_print_or_write(tmp_path: Path) -> None:
    printed = table(lambda: runctx("leaf(1)", globals(), {}, sort="name"))
    assert any("(leaf)" in line for line in printed)
    file = tmp_path / "out.prof"
    assert table(lambda: run("raise SystemExit(3)", str(file))) == []
    stats: Any = pstats.Stats(str(file))
    assert "<module>" in {name for _, _, name in stats.stats}
