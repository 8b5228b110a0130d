"""The tree of stacks: what is drawn, what is folded, what is left out."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from stepscope.errors import InputError
from stepscope.model import Process, StackRow, StacksAnswer, ThreadStacks
from stepscope.show.selection import select
from stepscope.show.terminal.tree import tree
from stepscope.views.stacks import STACKS

GOLDEN = Path(__file__).parent / "golden" / "tree.txt"
MS = 1_000_000
MAIN = Process(role="main", rank=None, pid=4711)


def row(
    depth: int, function: str, total_ms: float, self_ms: float = 0.0, library: str | None = None
) -> StackRow:
    file = f"/venv/lib/python3.12/site-packages/{library}/core.py" if library else "train.py"
    return StackRow(
        depth=depth,
        file=file,
        line=10 + depth,
        function=function,
        library=library,
        total_ns=int(total_ms * MS),
        self_ns=int(self_ms * MS),
        share=total_ms / 1000,
    )


ROWS = [
    row(0, "<module>", 1000),
    row(1, "train", 960, 60),
    row(2, "load_batch", 700, 20),
    row(3, "load", 680, 5, "numpy"),
    row(4, "open_zip", 675, 75, "zipfile"),
    row(5, "inflate", 500, 500, "zlib"),
    row(5, "user_callback", 100, 100),
    row(2, "forward", 195, 195),
    row(2, "log", 5, 5),
    row(1, "Net.__init__", 40, 40),
]


def thread(
    name: str, rows: list[StackRow], *, main: bool = False, threads: int = 1
) -> ThreadStacks:
    return ThreadStacks(
        process=MAIN,
        thread=name,
        threads=threads,
        main=main,
        total_ns=1000 * MS,
        samples=66,
        rows=rows,
    )


ANSWER = StacksAnswer(
    threads=[
        thread("MainThread", ROWS, main=True),
        thread("Thread-* (work)", [row(0, "work", 1000, 1000)], threads=4),
    ],
    notes=["samples.bin reached --max-size: what came later is missing."],
)


def of_thread(name: str) -> StacksAnswer:
    return select(STACKS, ANSWER, {"thread": name})


def drawn(answer: StacksAnswer, width: int = 80, **options: object) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, emoji=False, markup=False)
    console.print(tree(answer, **options), crop=False)  # type: ignore[arg-type]  # any of its options
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def test_the_page_is_as_it_was_approved() -> None:
    assert drawn(ANSWER) == GOLDEN.read_text()


def test_library_frames_are_folded_and_the_users_own_below_them_are_not() -> None:
    page = drawn(ANSWER)
    assert "[2 frames hidden]  zlib, zipfile" in page
    assert "user_callback" in page
    assert "inflate" not in page


def test_unfolded_every_frame_is_there() -> None:
    page = drawn(ANSWER, unfold=True)
    assert "hidden" not in page
    assert all(each.function in page for each in ROWS if each.share >= 0.01)


def test_what_takes_less_than_one_percent_is_left_out() -> None:
    assert "log" not in drawn(of_thread("MainThread"))


def test_a_function_says_what_it_takes_by_itself_beside_what_it_calls() -> None:
    lines = drawn(ANSWER).splitlines()
    assert any("train " in line and "itself 60.0 ms" in line for line in lines)
    assert not any("forward" in line and "itself" in line for line in lines)


def test_a_thread_is_chosen_by_name_or_pattern() -> None:
    for pattern in ("Thread-* (work)", "Thread*"):
        page = drawn(of_thread(pattern))
        assert "4 threads" in page
        assert "MainThread" not in page


def test_a_thread_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"'nobody'.*MainThread, Thread-\* \(work\)"):
        of_thread("nobody")


def test_many_threads_are_cut_and_said() -> None:
    many = StacksAnswer(threads=[thread(f"t{n}x", ROWS[:1]) for n in range(9)])
    assert "4 more threads" in drawn(many)
    assert "more" not in drawn(many, top=0)


def test_no_line_is_wider_than_the_page() -> None:
    rows = [row(depth, f"function_number_{depth}", 1000) for depth in range(40)]
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(tree(StacksAnswer(threads=[thread("MainThread", rows)])))
    assert isinstance(console.file, io.StringIO)
    assert max(map(len, console.file.getvalue().splitlines())) <= 80


def test_into_a_pipe_nothing_is_cut() -> None:
    rows = [row(depth, f"function_number_{depth}", 1000) for depth in range(40)]
    assert "function_number_39" in drawn(StacksAnswer(threads=[thread("MainThread", rows)]))


def test_a_tree_of_five_hundred_levels_can_be_drawn() -> None:
    rows = [row(depth, "ab"[depth % 2], 1000) for depth in range(500)]
    assert len(drawn(StacksAnswer(threads=[thread("MainThread", rows)])).splitlines()) == 501
