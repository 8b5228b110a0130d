"""Which work in the source gives the same result in every step."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.unchanging.unchanging import Unchanging
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.host_code_again import judge
from stepscope.analyze.run import load
from stepscope.analyze.source_text import Function, Text, parsed

GRAPH = """
import numpy as np
import torch
from torch import nn

def normalised(adjacency):
    with_self = adjacency + torch.eye(len(adjacency))
    scale = with_self.sum(dim=1).pow(-0.5)
    return scale[:, None] * with_self * scale[None, :]

class Net(nn.Module):
    def __init__(self, adjacency):
        self.adjacency = adjacency
        self.weight = nn.Parameter(torch.ones(3, 3))
    def forward(self, x):
        adjacency = normalised({argument})
        return adjacency @ x

def main(adjacency, data):
    net = Net(adjacency)
    for batch in data:
        loss = net(batch)
        {after}
"""


class OneFile:
    """A file of the user's."""

    files = ("train.py",)

    def __init__(self, text: Text) -> None:
        self._text = text

    def text(self, file: str) -> Text:
        return self._text

    def definitions(self, name: str) -> list[Function]:
        return [each for each in self._text.functions() if each.name == name]


def same_in(source: str, function: str) -> list[str]:
    """The statements of a function that do the same in every step."""
    text = parsed(textwrap.dedent(source).splitlines())
    sources: Any = OneFile(text)
    found = next(each for each in text.functions() if each.name == function)
    pieces = Unchanging(sources).in_function(text, found)
    return [text.lines[line - 1].strip() for line in sorted({p.line for p in pieces.values()})]


def same_in_loop(source: str) -> list[str]:
    text = parsed(textwrap.dedent(source).splitlines())
    sources: Any = OneFile(text)
    pieces = Unchanging(sources).in_loop(text, next(text.loops()))
    return [text.lines[line - 1].strip() for line in sorted({p.line for p in pieces.values()})]


def test_what_only_depends_on_what_the_object_was_made_with_is_the_same() -> None:
    source = GRAPH.format(argument="self.adjacency", after="pass")
    assert same_in(source, "forward") == ["adjacency = normalised(self.adjacency)"]


@pytest.mark.parametrize(
    ("argument", "after"),
    [
        ("self.weight", "pass"),  # is trained
        ("x", "pass"),  # the batch
        ("self.adjacency", "net.adjacency = loss"),
        ("self.adjacency", "net.adjacency[0] = 1"),
        ("self.adjacency", "net.adjacency.add_(1)"),
        ("self.adjacency", "torch.optim.SGD([net.adjacency], lr=1)"),
        ("self.adjacency + torch.rand(3)", "pass"),
        ("nn.functional.dropout(self.adjacency)", "pass"),
        ("self.somewhere", "pass"),  # nobody knows where it comes from
    ],
)
def test_what_may_change_is_not(argument: str, after: str) -> None:
    assert same_in(GRAPH.format(argument=argument, after=after), "forward") == []


def test_a_table_for_the_shape_of_the_batch_is_the_same() -> None:
    source = """
        import numpy as np
        def table(length, width):
            rows = np.zeros((length, width))
            for step in range(width):
                rows[:, step] += np.sin(np.arange(length) * step)
            return rows
        def forward(x):
            positions = table(x.shape[1], x.size(2))
            return x + positions
        """
    assert same_in(source, "forward") == ["positions = table(x.shape[1], x.size(2))"]


def test_a_parameter_is_the_same_if_every_call_hands_over_the_same() -> None:
    source = """
        import numpy as np
        LINKS = np.eye(3)
        def spread(links):
            inverse = np.linalg.inv(links)
            return inverse
        def train(data):
            for x in data:
                y = spread(LINKS) + spread({other})
        """
    assert same_in(source.format(other="LINKS"), "spread") == ["inverse = np.linalg.inv(links)"]
    assert same_in(source.format(other="x"), "spread") == []


@pytest.mark.parametrize(
    "body",
    [
        "global count\n    count = 1\n    return x + count",
        "x.append(1)\n    return len(x)",
        "self.cache = x\n    return x",
        "return open(x).read()",
        "return next(x)",
        "return x() + 1",
        "yield x",
    ],
)
def test_a_function_that_does_more_than_compute_may_return_anything(body: str) -> None:
    source = (
        f"LINKS = [1]\ndef made(x):\n    {body}\ndef step():\n    y = made(LINKS)\n    return y"
    )
    assert same_in(source, "step") == []


def test_in_the_step_loop_itself_what_it_does_not_bind_is_the_same() -> None:
    source = """
        import numpy as np
        links, x = np.eye(9), np.ones(9)
        for step in range(100):
            spread = np.linalg.inv(links)
            x = spread @ x
            rate = np.exp(-step)
            total = x.sum()
        """
    assert same_in_loop(source) == ["spread = np.linalg.inv(links)"]


@pytest.mark.parametrize(
    "changes",
    [
        "links[step] += 1",
        "np.add(links, 1, out=links)",
        "grown(links)",
        "for row in links: row += 1",
        "links = links + 1",
    ],
)
def test_what_a_turn_of_the_loop_changes_is_not(changes: str) -> None:
    source = f"""
        import numpy as np
        def grown(rows):
            rows[0] += 1
        links = np.eye(9)
        for step in range(100):
            spread = np.linalg.inv(links)
            {changes}
        """
    assert same_in_loop(source) == []


def test_what_a_comprehension_goes_through_may_differ() -> None:
    source = """
        def drawn(points):
            return sum(points)
        class Data:
            def __init__(self, points):
                self.points = points
            def __getitem__(self, index):
                rows = slice(index, index + 32)
                pictures = [drawn(each) for each in self.points[rows]]
                return pictures
        """
    assert same_in(source, "__getitem__") == []


# --- the finding ----------------------------------------------------------------------------------

STEPS, STEP = 100, 10 * MS
PROGRAM = """import torch
def spread(links):
    return torch.linalg.inv(links)
def update(links, x):
    inverse = spread(links)
    return inverse @ x
links, x = torch.eye(9), torch.ones(9)
for step in range(100):
    {before}x = update(links, x)
"""


def judged(path: Path, before: str = "") -> list[Candidate]:
    """Steps of 10 ms, 4 of them in a function that gets the same each time."""
    process = RunBuilder(path).process()
    file = process.file(text=PROGRAM.format(before=before))
    codes = [
        process.code("<module>", file=file, kind="module"),
        process.code("spread", file=file, first_line=2),
        process.code("update", file=file, first_line=4),
    ]
    process.lines(codes[0], 8, [(STEPS, 0), (STEPS, STEP * STEPS)])
    process.lines(codes[1], 2, [(0, 0), (STEPS, 4 * MS * STEPS)], calls=STEPS)
    both = [(0, 0), (STEPS, 4 * MS * STEPS), (STEPS, 6 * MS * STEPS)]
    process.lines(codes[2], 4, both, calls=STEPS)
    process.for_loop(process.loop(codes[0], 8, 9), 0, [STEP] * STEPS)
    places = (("<module>", 1, 9), ("update", 4, 5), ("spread", 2, 3))
    nodes = [0]
    for name, first_line, line in places:
        function = process.function(name, line=first_line)
        nodes.append(process.node(function, nodes[-1], line))
    trains = process.node(process.function("update", line=4), nodes[1], 6)
    for at in range(0, STEPS * STEP, STEP):
        process.sample(nodes[-1], at, 4 * MS - 1, count=4)
        process.sample(trains, at + 4 * MS, 6 * MS - 1, count=6)
    process.write()
    run = load(path)
    assert run.main is not None
    return judge(Case(run, run.main))


def test_the_same_result_in_every_step_is_a_finding_with_its_function(tmp_path: Path) -> None:
    (found,) = judged(tmp_path / "run")
    assert found.location is not None
    assert (found.id, found.location.function) == ("host-code", "spread")
    assert found.share == pytest.approx(0.4, abs=0.01)
    assert found.saving.expected == pytest.approx(0.4 * STEP, rel=0.02)


def test_it_is_none_where_the_loop_changes_what_it_gets(tmp_path: Path) -> None:
    assert judged(tmp_path / "run", before="links[0] += 1; ") == []
