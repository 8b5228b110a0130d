"""`stepscope.Profile` in place of cProfile's: its interface, switching on and off, errors."""

import cProfile
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import Profile
from transparency.both import PATIENCE_S

# Since 3.14 cProfile passes on what sys.monitoring says.
ACTIVE = "Another profiling tool is already active|tool 2 is already in use"


def leaf(n: int) -> int:
    return n + 1


def work(n: int) -> int:
    return sum(leaf(i) for i in range(n))


def counted(profile: Any) -> dict[str, int]:
    """Plain name to calls."""
    return {
        code if isinstance(code := entry.code, str) else code.co_name: entry.callcount
        for entry in profile.getstats()
    }


# --- counting ------------------------------------------------------------------------------------


def test_a_block_a_call_and_a_statement_are_profiled_alike() -> None:
    block, call, statement, switched = Profile(), Profile(), Profile(), Profile()
    with block as same:
        work(3)
    assert same is block
    assert call.runcall(work, 3) == 6
    assert statement.runctx("work(3)", globals(), locals()) is statement
    switched.enable()
    work(3)
    switched.disable()
    expected = {"work": 1, "leaf": 3, "<genexpr>": 4, "<built-in method builtins.sum>": 1}
    assert counted(block) == counted(call) == counted(switched) == expected
    by_exec = {"<built-in method builtins.exec>": 1, "<module>": 1}
    assert counted(statement) == {**expected, **by_exec}


def test_run_runs_in_the_main_module() -> None:
    import __main__

    __main__.seen_by_run = []
    try:
        assert counted(Profile().run("seen_by_run.append(1)"))["<module>"] == 1
        assert __main__.seen_by_run == [1]
    finally:
        del __main__.seen_by_run


def test_what_it_counts_adds_up_until_it_is_cleared() -> None:
    profile = Profile()
    for _ in range(3):
        profile.runcall(work, 2)
    assert counted(profile)["leaf"] == 6
    profile.clear()
    assert profile.getstats() == []
    profile.runcall(work, 2)
    assert counted(profile)["leaf"] == 2


def test_clearing_while_it_counts_forgets_what_is_open() -> None:
    profile = Profile()

    def clears() -> None:
        leaf(1)
        profile.clear()
        leaf(2)

    profile.runcall(clears)
    assert counted(profile) == {"leaf": 1}


def test_options_of_enable_stay_until_others_are_given() -> None:
    profile = Profile(builtins=False)
    profile.enable()
    work(1)
    profile.disable()
    assert counted(profile) == {"work": 1, "leaf": 1, "<genexpr>": 2}
    profile.enable(subcalls=False, builtins=True)
    work(1)
    profile.disable()
    profile.clear()
    profile.runcall(work, 1)
    assert counted(profile)["<built-in method builtins.sum>"] == 1
    assert [entry.calls for entry in profile.getstats()] == [None] * 4


def test_calls_that_are_open_count_when_they_end_or_it_does() -> None:
    for kind in (Profile, cProfile.Profile):
        seen: list[dict[str, int]] = []
        profile: Any = kind()

        def inside(profile: Any = profile, seen: list[dict[str, int]] = seen) -> None:
            leaf(1)
            seen.append(counted(profile))
            profile.disable()

        profile.enable()
        inside()
        seen.append(counted(profile))
        assert [names.get("inside", 0) for names in seen] == [0, 1]
        assert [names.get("leaf", 0) for names in seen] == [1, 1]


def test_an_exception_passes_and_ends_the_profile() -> None:
    profile = Profile()
    with pytest.raises(ZeroDivisionError), profile:
        leaf(1 // 0)
    with pytest.raises(TypeError):
        profile.runcall(leaf, "x")  # type: ignore[arg-type]
    with pytest.raises(NameError):
        profile.runctx("no_such_name", {}, {})
    profile.runcall(leaf, 1)
    assert counted(profile)["leaf"] == 2


def test_no_function_of_the_profiler_shows() -> None:
    profile = Profile()
    with profile:
        leaf(1)
        profile.snapshot_stats()
        profile.getstats()
        leaf(2)
        profile.create_stats()
        leaf(3)
    ours = str(Path(stepscope.__file__).parent)
    files = {file for file, _, _ in profile.stats}
    assert not [file for file in files if file.startswith(ours)]
    assert not [name for _, _, name in profile.stats if "_core" in name or "disable" in name]
    assert counted(profile)["leaf"] == 2


def test_a_function_that_goes_leaves_its_counts() -> None:
    profile = Profile()
    for number in range(50):
        space: dict[str, Any] = {}
        exec(compile(f"def made_{number}(): return {number}", "made.py", "exec"), space)
        profile.runcall(space[f"made_{number}"])
    names = counted(profile)
    assert [names[f"made_{number}"] for number in range(50)] == [1] * 50


# --- one at a time -------------------------------------------------------------------------------


@pytest.mark.parametrize("second", [Profile, None], ids=["another", "itself"])
def test_only_one_profiles_at_a_time(second: Callable[[], Profile] | None) -> None:
    first = Profile()
    with first:
        with pytest.raises(ValueError, match=ACTIVE):
            (second() if second else first).enable()
        leaf(1)
    assert counted(first)["leaf"] == 1
    after = second() if second else first
    after.runcall(leaf, 1)
    assert counted(after)["leaf"] >= 1


def test_it_is_refused_where_cprofile_is_active() -> None:
    theirs = cProfile.Profile()
    theirs.enable()
    try:
        with pytest.raises(ValueError, match=ACTIVE):
            Profile().enable()
    finally:
        theirs.disable()


def test_cprofile_is_refused_where_it_is_active_or_wins() -> None:
    ours, theirs = Profile(), cProfile.Profile()
    with ours:
        if sys.version_info >= (3, 12):
            with pytest.raises(ValueError, match=ACTIVE):
                theirs.enable()
        else:  # the last one wins
            theirs.runcall(leaf, 1)
            assert counted(theirs)["leaf"] == 1
    assert "leaf" not in counted(ours)


def test_disabling_what_is_not_enabled_does_nothing() -> None:
    idle, busy = Profile(), Profile()
    idle.disable()
    with busy:
        idle.disable()
        leaf(1)
    assert counted(busy)["leaf"] == 1


def test_the_scripts_own_profile_function_works_beside_it_or_wins() -> None:
    told: list[str] = []

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            told.append(frame.f_code.co_name)

    profile = Profile()
    with profile:
        leaf(1)
        sys.setprofile(note)
        leaf(2)
        sys.setprofile(None)
    assert told == ["leaf"]
    assert counted(profile)["leaf"] == (2 if sys.version_info >= (3, 12) else 1)


def test_it_takes_nobodys_profile_function_away() -> None:
    def note(*_: object) -> None: ...

    profile = Profile()
    sys.setprofile(note)
    try:
        if sys.version_info >= (3, 12):  # there is room for both
            profile.runcall(leaf, 1)
            assert counted(profile)["leaf"] == 1
        else:
            with pytest.raises(ValueError, match=ACTIVE):
                profile.enable()
        assert sys.getprofile() is note
    finally:
        sys.setprofile(None)


# --- threads -------------------------------------------------------------------------------------


def in_thread(function: Callable[[], object]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_only_the_thread_that_enables_it_is_profiled() -> None:
    profile = Profile()
    with profile:
        leaf(1)
        in_thread(lambda: work(100))
        leaf(2)
    assert counted(profile)["leaf"] == 2
    assert "work" not in counted(profile)


def test_another_thread_can_end_it_and_begin_it_anew() -> None:
    profile = Profile()
    profile.enable()
    leaf(1)
    in_thread(profile.disable)
    leaf(2)
    assert counted(profile)["leaf"] == 1
    in_thread(lambda: profile.runcall(work, 3))
    leaf(3)
    assert counted(profile)["leaf"] == 4


def test_a_thread_that_ends_while_it_profiles_leaves_its_counts() -> None:
    profile = Profile()

    def enables() -> None:
        profile.enable()
        leaf(1)

    in_thread(enables)
    in_thread(lambda: leaf(2))
    profile.disable()
    assert counted(profile)["leaf"] == 1


# --- timers --------------------------------------------------------------------------------------


def test_a_timer_that_fails_costs_the_times_and_not_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: told.append(about.exc_value))

    def broken() -> float:
        raise RuntimeError("no time")

    profile = Profile(broken)
    assert profile.runcall(work, 2) == 3
    assert counted(profile)["leaf"] == 2
    assert {str(error) for error in told} == {"no time"}


def test_a_timer_may_end_the_profile() -> None:
    left = 5

    def timer() -> float:
        nonlocal left
        left -= 1
        if left == 0:
            profile.disable()
        return float(-left)

    profile = Profile(timer)
    assert profile.runcall(work, 20) == 210
    assert profile.getstats()


def test_a_timer_must_be_callable() -> None:
    with pytest.raises(TypeError, match="timer must be a function"):
        Profile(3)  # type: ignore[arg-type]


# --- a thousand times ----------------------------------------------------------------------------


def test_a_thousand_times_on_and_off_keep_nothing() -> None:
    profile = Profile()

    def times(n: int) -> int:
        for _ in range(n):
            with profile:
                work(2)
            profile.getstats()
            Profile().runcall(leaf, 1)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before, after = times(100), times(1000)
    finally:
        tracemalloc.stop()
    assert counted(profile)["leaf"] == 2200
    assert after - before < 10_000  # ten bytes each


# --- the end of the process ----------------------------------------------------------------------


def said_by(code: str) -> str:
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    assert done.stderr == ""
    return done.stdout


def test_a_program_may_end_without_ending_its_profile() -> None:
    code = "import stepscope\nclass C:\n def __del__(self): len('')\n"
    assert said_by(code + "kept = C()\nstepscope.Profile().enable()\nprint(len('x'))") == "1\n"


def test_a_forked_child_goes_on_counting_by_itself() -> None:
    code = (
        "import os, stepscope\n"
        "def f(): pass\n"
        "def said(p): return [e.callcount for e in p.getstats() if ' f ' in str(e.code)][0]\n"
        "with stepscope.Profile() as profile:\n"
        "    f()\n"
        "    if child := os.fork(): os.waitpid(child, 0)\n"
        "    else: f()\n"
        "print(said(profile), flush=True)\n"
    )
    assert said_by(code) == "2\n1\n"


# --- its name ------------------------------------------------------------------------------------


def test_the_module_is_still_the_decorator_of_that_name() -> None:
    code = (
        "import stepscope, stepscope.profile as module\n"
        "@stepscope.profile\n"
        "def f(): return 1\n"
        "@module\n"
        "def g(): return 2\n"
        "print(f() + g(), module.Profile is stepscope.Profile)\n"
        "from stepscope.record.engines.decorator import waiting\n"
        "print([each.__name__ for each in waiting])\n"
    )
    assert said_by(code) == "3 True\n['f', 'g']\n"
