"""Patches around the call of a torch model, from the script's text alone."""

import ast
import textwrap

import pytest

from stepscope.advise.evidence.model_call import ModelCall
from stepscope.advise.evidence.source import Text


def call_in(text: str, line: int, model: str) -> ModelCall:
    lines = textwrap.dedent(text).strip("\n").splitlines()
    source = Text(lines, ast.parse("\n".join(lines)))
    statement = source.statement_at(line)
    assert statement is not None
    return ModelCall("train.py", source, statement, model)


def added(diff: str | None) -> list[str]:
    assert diff is not None
    return [line for line in diff.splitlines()[2:] if line[0] in "+-"]


def test_a_line_is_added_where_the_model_is_made_for_the_last_time() -> None:
    call = call_in(
        """
        model = Net()
        if fast:
            model = model.half()
        model(x)
        """,
        4,
        "model",
    )
    diff = call.after_assignment("{model}.compile()")
    assert added(diff) == ["+model.compile()"]
    assert diff is not None
    assert diff.splitlines().index("+model.compile()") < diff.splitlines().index(" model(x)")
    assert "     model = model.half()\n+model.compile()" in diff


def test_an_attribute_is_made_in_another_function_than_it_is_called_in() -> None:
    call = call_in(
        """
        class Trainer:
            def __init__(self):
                self.net = Net(
                    4)
            def step(self, x):
                return self.net(x)
        """,
        6,
        "self.net",
    )
    assert "             4)\n+        self.net.compile()" in (
        call.after_assignment("{model}.compile()") or ""
    )


@pytest.mark.parametrize(
    "text",
    [
        "def train(model):\n    model(x)",
        "if big:\n    model = Big()\nelse:\n    model = Small()\nmodel(x)",
    ],
)
def test_without_a_clear_place_there_is_no_diff(text: str) -> None:
    call = call_in(text, len(text.splitlines()), "model")
    assert call.after_assignment("{model}.compile()") is None


def test_a_block_reaches_from_the_call_to_the_backward_pass() -> None:
    call = call_in(
        """
        for x, y in loader:
            out = model(x)
            loss = loss_of(out, y)
            loss.backward()
        """,
        2,
        "model",
    )
    assert added(call.inside("with autocast:")) == [
        "-    out = model(x)",
        "-    loss = loss_of(out, y)",
        "+    with autocast:",
        "+        out = model(x)",
        "+        loss = loss_of(out, y)",
    ]
