"""The input view."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from stepscope.model import (
    InputAnswer,
    InputFunction,
    InputLine,
    LoaderRow,
    Process,
    StageRow,
)
from stepscope.show.terminal.input import input

MAIN = Process(role="main", rank=None, pid=4711)
WORKERS = Process(role="worker", rank=None, pid=None)
ANSWER = InputAnswer(
    loader=LoaderRow(
        workers=2, batch_size=64, wait_ms=40.0, share=0.8, steps_that_waited=50, steps=51,
        longest_ms=120.0,
    ),
    limit="number",
    limited_by="the number of workers",
    why="the workers are busy 97 % of the time: more workers",
    stages=[
        StageRow(process=WORKERS, stage="fetch", ms_per_batch=38.0, share=0.95),
        StageRow(process=WORKERS, stage="wait for work", ms_per_batch=0.4, share=0.01),
        StageRow(process=MAIN, stage="get", ms_per_batch=1.5, share=0.03),
    ],
    lines=[
        InputLine(
            file="data/images.py", line=31, function="Images.__getitem__", ms_per_batch=30.0,
            share=0.79, source="        image = Image.open(path).convert('RGB')",
        )
    ],
    library=[InputFunction(function="Image.convert", file="/site/PIL/Image.py", share=0.6)],
    start_up_ms=81.0,
    busy=0.97,
    cores=4.0,
    idle_cores=1.5,
    notes=["process 12: Fetching a batch ended with ValueError at data/images.py:31."],
)  # fmt: skip
NOTHING = InputAnswer(
    loader=None, limit=None, why=None, stages=[], lines=[], library=[], start_up_ms=None,
    reason="No loader was used: do this.",
)  # fmt: skip


def drawn(answer: InputAnswer, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False).print(input(answer))
    return out.getvalue()


def test_all_that_is_known_is_shown() -> None:
    text = " ".join(drawn(ANSWER).split())
    for words in (
        "2 workers · 64 samples per batch · 4 cores",
        "40.0 ms 80.0 % 120 ms 50 of 51 81.0 ms",
        "Limited by the number of workers: the workers are busy 97 % of the time: more workers",
        "fetch workers 38.0 ms 95.0 %",
        "get main 4711 1.50 ms 3.0 %",
        "30.0 ms 79.0 %",
        "images.py:31",
        "60.0 % Image.convert",
        "ended with ValueError",
    ):
        assert words in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_is_no_wider_than_the_terminal(width: int) -> None:
    assert max(cell_len(line) for line in drawn(ANSWER, width).splitlines()) <= width


def test_without_a_loader_the_reason_is_shown() -> None:
    assert "No loader was used: do this." in drawn(NOTHING)
