"""The ranks view, at 80 columns."""

import io

import msgspec
from rich.console import Console

from stepscope.model import Location
from stepscope.model.ranks import RankRow, RanksAnswer, Straggler
from stepscope.show.terminal.ranks import ranks


def row(rank: int, own_ms: float, waiting_ms: float, status: str = "ended") -> RankRow:
    return RankRow(
        rank=rank,
        host="node1",
        pid=4711 + rank,
        steps=60,
        step_ms=62.0,
        own_ms=own_ms,
        communication_ms=62.0 - own_ms,
        waiting_ms=waiting_ms,
        input_ms=1.5,
        status=status,
        transfer_ms=62.0 - own_ms - waiting_ms,
    )


ANSWER = RanksAnswer(
    ranks=[row(0, 21.0, 38.2), row(1, 58.0, 0.0, "killed")],
    straggler=Straggler(
        rank=1,
        why="it comes last, and holds up each step by 38.2 ms",
        location=Location(file="train.py", line=31, function="augment"),
        cost_ms=38.2,
        source="    image = warp(image)",
    ),
    skew_ms=38.2,
    notes=["Rank 1 was killed after 60 steps."],
)
PAGE = """\
Ranks  2 ranks · 38.2 ms per step waiting for the last rank
  rank  steps  per step      own    input    waits  transfers  own time   status
     0     60   62.0 ms  21.0 ms  1.50 ms  38.2 ms    2.80 ms  ███        ended
     1     60   62.0 ms  58.0 ms  1.50 ms     0 ns    4.00 ms  ████████▍  killed

  The others wait for rank 1: it comes last, and holds up each step by 38.2 ms.
  train.py:31  in augment  image = warp(image)

Notes
  ! Rank 1 was killed after 60 steps.
"""


def drawn(answer: RanksAnswer, top: int | None = None) -> str:
    out = io.StringIO()
    Console(file=out, width=80, highlight=False, markup=False).print(ranks(answer, top=top))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def test_the_page() -> None:
    assert drawn(ANSWER) == PAGE


def test_fewer_rows_say_so() -> None:
    assert "1 more rank" in drawn(ANSWER, top=1)


def test_without_ranks_there_is_a_reason() -> None:
    answer = RanksAnswer(ranks=[], straggler=None, skew_ms=None, reason="This run has no ranks.")
    assert "This run has no ranks." in drawn(answer)


def test_without_steps_nothing_is_said_of_each_step() -> None:
    rows = [msgspec.structs.replace(each, steps=0) for each in ANSWER.ranks]
    text = drawn(msgspec.structs.replace(ANSWER, ranks=rows, straggler=None, notes=[]))
    assert text.startswith("Ranks  2 ranks · 38.2 ms waiting for the last rank\n")
    assert "in all" in text
    assert "step " not in text
