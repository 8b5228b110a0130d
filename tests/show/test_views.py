"""The terminal views: golden text at 80 columns, and what holds for every view at any width."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

import hand_made_answers as made
from all_views import Views
from build import MS, RunBuilder
from stepscope.model import Ending, Share, Step
from stepscope.model.findings import Speedup
from stepscope.show.terminal.files import files
from stepscope.show.terminal.findings import findings
from stepscope.show.terminal.lines import lines
from stepscope.show.terminal.memory import memory
from stepscope.show.terminal.processes import processes
from stepscope.show.terminal.regions import regions
from stepscope.show.terminal.steps import steps
from stepscope.show.terminal.summary import summary
from stepscope.views import VIEWS as EVERY

GOLDEN = Path(__file__).parent / "golden"
VIEWS: dict[str, Callable[[], RenderableType]] = {
    "summary": lambda: summary(made.SUMMARY),
    "summary_with_findings": lambda: summary(made.SUMMARY, made.FINDINGS),
    "findings": lambda: findings(made.FINDINGS),
    "steps": lambda: steps(made.STEPS),
    "no_steps": lambda: steps(made.NO_STEPS),
    "each_step": lambda: steps(made.EACH_STEP),
    "lines": lambda: lines(made.LINES),
    "lines_in_ms": lambda: lines(made.LINES, unit_s=1e-3),
    "regions": lambda: regions(made.REGIONS),
    "files": lambda: files(made.FILES),
    "memory": lambda: memory(made.MEMORY),
    "processes": lambda: processes(made.PROCESSES),
}


def drawn(view: RenderableType, width: int = 80, *, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        highlight=False,
        markup=False,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        legacy_windows=False,
    )
    console.print(view, crop=terminal)
    return out.getvalue()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_drawn_as_its_golden_text_says(name: str) -> None:
    text = "".join(line.rstrip() + "\n" for line in drawn(VIEWS[name]()).splitlines())
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("STEPSCOPE_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("name", VIEWS)
def test_no_view_is_wider_than_the_terminal(name: str, width: int) -> None:
    plain = drawn(VIEWS[name](), width, terminal=False)
    if not name.startswith("lines"):  # the source is never cut in a pipe
        assert max(cell_len(line) for line in plain.splitlines()) <= width
    console = Console(width=width, force_terminal=True, color_system=None, file=io.StringIO())
    shown = console.render_lines(VIEWS[name](), pad=False)
    assert max(sum(segment.cell_length for segment in line) for line in shown) <= width


@pytest.mark.parametrize("name", VIEWS)
def test_colours_are_used_on_a_terminal_only(name: str) -> None:
    assert "\x1b[" not in drawn(VIEWS[name]())
    assert "\x1b[" in drawn(VIEWS[name](), terminal=True)


def test_the_summary_says_what_killed_the_script() -> None:
    killed = Ending(how="killed", exit_status=None, signal="SIGKILL", words="killed by SIGKILL")
    answer = made.changed(made.SUMMARY, ending=killed)
    assert "killed by SIGKILL" in drawn(summary(answer))


def test_a_summary_without_hottest_lines_leaves_that_block_out() -> None:
    answer = made.changed(made.SUMMARY, hottest=[], hottest_ns=[], hottest_source=[])
    assert "Hottest" not in drawn(summary(answer))


def test_every_view_takes_top(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    code = process.code("train")
    process.lines(code, 1, [(9, MS), (9, 9 * MS)], calls=1)
    process.write(ended_ns=20 * MS)
    views = Views(run.path)
    for view in EVERY.values():
        beside = {name: views.answers[name] for name in view.drawn_beside}
        drawn(view.draw(views.answers[view.name], {"top": 1}, **beside))
    lines = drawn(EVERY["summary"].draw(views.answers["summary"], {"top": 1}))
    assert lines.count("train.py:") == 1


def test_top_says_how_many_functions_were_left_out() -> None:
    text = drawn(lines(made.LINES, top=1, hottest=False))
    assert "get_dataset" in text
    assert "Scaler.scale" not in text
    assert "1 more function: --top 0 shows all" in text


def test_estimates_carry_a_mark_and_a_legend_and_exact_lines_do_not() -> None:
    exact = made.changed(made.LINES, functions=made.LINES.functions[:1])
    assert "~" not in drawn(lines(exact))
    assert "~60,000" in drawn(lines(made.LINES))
    assert "an estimate" in drawn(lines(made.LINES))


def test_a_module_shows_only_its_slow_lines_and_a_function_all_of_its_source() -> None:
    source = [f"line_{number}()" for number in range(1, 21)]
    function = made.changed(
        made.LINES.functions[0],
        first_line=1,
        source=source,
        lines=[made.line(1, 1, 5, source[0]), made.line(20, 1, 10**9, source[19])],
        total_ns=10**9,
    )
    module = made.changed(function, function="<module>")
    whole = drawn(lines(made.changed(made.LINES, functions=[function])))
    brief = drawn(lines(made.changed(made.LINES, functions=[module])))
    asked = drawn(lines(made.changed(made.LINES, functions=[module]), hottest=False))
    assert "line_10()" in whole
    assert "line_20()" in brief
    assert "line_10()" not in brief
    assert "line_1()" not in brief
    assert "1 more line under 0.1 % each" in brief
    assert "line_1()" in asked
    assert "line_10()" not in asked


def test_long_source_lines_are_cut_on_a_terminal_and_whole_in_a_pipe() -> None:
    long = "x = " + " + ".join(f"term_{number}" for number in range(40))
    function = made.changed(made.LINES.functions[0], lines=[made.line(30, 1, 5, long)], source=None)
    view = lines(made.changed(made.LINES, functions=[function]))
    assert long in drawn(view)
    assert long not in drawn(view, terminal=True)
    assert "…" in drawn(view, terminal=True)


def test_the_process_is_named_where_there_are_several() -> None:
    other = made.changed(made.LINES.functions[1], process=made.WORKERS)
    answer = made.changed(made.LINES, functions=[made.LINES.functions[0], other])
    assert "workers" in drawn(lines(answer))
    assert "4711" not in drawn(lines(made.LINES))


def test_bars_are_ascii_where_the_terminal_can_do_no_better() -> None:
    content = io.BytesIO()
    out = io.TextIOWrapper(content, encoding="ascii", errors="replace")
    Console(file=out, width=80).print(steps(made.STEPS))
    out.flush()
    assert b"####" in content.getvalue()


def test_a_run_in_which_nothing_was_recorded_points_to_the_doctor() -> None:
    answer = made.changed(made.SUMMARY, processes=0, parts=[], wall_ns=0, steps=made.NO_STEPS)
    text = drawn(summary(answer))
    assert "nothing was recorded" in text
    assert "stepscope doctor" in text
    assert "show" not in text


def test_the_summary_begins_with_the_one_line_that_takes_most_of_the_run() -> None:
    text = drawn(summary(made.SUMMARY))
    assert "64.2 % of the run is one line: train.py:32  images = archive['images']" in text
    other_threads = made.changed(made.SUMMARY, hottest_ns=[9_000_000_000, 150_000_000])
    assert "is one line" not in drawn(summary(other_threads))
    spread_out = made.changed(made.SUMMARY, hottest_ns=[200_000_000, 150_000_000])
    assert "is one line" not in drawn(summary(spread_out))


def test_a_long_path_leaves_room_for_the_source_line() -> None:
    places = [
        made.changed(place, file=f"a/long/way/{place.file}") for place in made.SUMMARY.hottest
    ]
    text = drawn(summary(made.changed(made.SUMMARY, hottest=places)))
    assert "train.py:32" in text
    assert "a/long/way" not in text
    assert text.count("images = archive['images']") == 2


def test_a_long_file_name_keeps_its_end() -> None:
    row = made.changed(made.FILES.files[0], path="/scratch/ada/project/raw/data/mnist/digits.npz")
    assert "…/raw/data/mnist/digits.npz" in drawn(files(made.changed(made.FILES, files=[row])))


def test_parts_of_nothing_are_left_out_of_the_page() -> None:
    text = drawn(summary(made.SUMMARY))
    assert "saving" not in text
    assert "<0.1 %" not in text


@pytest.mark.parametrize(
    ("shares", "bound", "words"),
    [
        (
            [("files", 0.9), ("python", 0.1)],
            "host",
            "Most of step time goes to reading or writing files",
        ),
        ([("python", 0.9), ("files", 0.1)], "host", "Most of step time goes to your Python code"),
        (
            [("python", 0.4), ("files", 0.3)],
            "host",
            "The largest part of step time goes to your Python",
        ),
        ([("input", 0.9), ("python", 0.1)], "input", "Most of step time goes to waiting for input"),
        (
            [("sync", 0.9), ("python", 0.1)],
            "device",
            "Most of step time goes to work on the device",
        ),
    ],
)
def test_the_steps_say_in_words_what_most_of_a_step_is(
    shares: list[tuple[str, float]], bound: str, words: str
) -> None:
    breakdown = [made.share(name, part, 62 * part) for name, part in shares]
    assert words in drawn(steps(made.changed(made.STEPS, breakdown=breakdown, bound=bound)))


def test_step_times_are_drawn_as_a_line_where_there_are_enough() -> None:
    times_ms = [200, *[20] * 30, 40]
    each = [
        Step(
            start_ns=10**9 * number,
            duration_ns=ms * 10**6,
            phases={},
            measured=True,
            number=number + 1,
        )
        for number, ms in enumerate(times_ms)
    ]
    text = drawn(steps(made.changed(made.STEPS, each=each), table=False))
    assert "█" + "▃" * 30 + "▅  slowest 200 ms (step 1)" in text
    assert "Each step" not in text
    assert "slowest" not in drawn(steps(made.EACH_STEP))


def test_many_phases_are_shown_as_the_largest_and_the_rest() -> None:
    phases = {name: 10**6 * ms for ms, name in enumerate("abcdef", start=1)}
    each = [Step(start_ns=0, duration_ns=21 * 10**6, phases=phases, measured=True, number=1)]
    row = drawn(steps(made.changed(made.STEPS, each=each))).splitlines()[-1]
    assert row.split() == "1 0 ns 21.0 ms 6.00 ms 5.00 ms 4.00 ms 6.00 ms".split()


def test_a_note_is_said_once_with_all_whom_it_concerns() -> None:
    rows = [
        made.changed(row, notes=["names.jsonl was cut off"]) for row in made.PROCESSES.processes
    ]
    text = drawn(processes(made.changed(made.PROCESSES, processes=rows)))
    assert "main 4711, workers: names.jsonl was cut off" in text


def test_units_stand_below_each_other() -> None:
    rows = drawn(summary(made.SUMMARY)).splitlines()
    of_parts = [row for row in rows if row.startswith(("  imports", "  set-up", "  steps"))]
    assert [row[-11:-8] for row in of_parts] == [" ms", " s ", " s "]


def test_a_gain_without_an_upper_end_has_no_range() -> None:
    open_ended = msgspec.structs.replace(
        made.FINDINGS.findings[0],
        speedup=Speedup(expected=55.0, low=6.0, high=None),
        gain="at least 6×",
    )
    text = drawn(findings(msgspec.structs.replace(made.FINDINGS, findings=[open_ended])))
    assert "gain        at least 6×\n" in "\n".join(line.rstrip() for line in text.splitlines())
    assert "55" not in text.replace("opened 55 times in 55 of 55", "").replace("55 measured", "")


def test_the_steps_say_which_categories_only_some_of_them_have() -> None:
    breakdown = [
        Share(category="python", share=0.6, ms=6, device_ms=None, steps=55),
        Share(category="evaluation", share=0.3, ms=3, device_ms=None, steps=2),
        Share(category="gc", share=0.1, ms=1, device_ms=None, steps=12),
    ]
    text = drawn(steps(made.changed(made.STEPS, breakdown=breakdown)))
    assert "evaluation in 2, gc in 12 of 55 steps only" in text
