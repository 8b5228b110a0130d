"""What the source text shows: loops that carry a state, statements that nothing needs, patches."""

import ast
from pathlib import Path
from typing import Any

import pytest

from stepscope.advise.evidence.hot_loops import yields
from stepscope.advise.evidence.patch import decorated, with_argument
from stepscope.advise.evidence.source import Text, is_carried
from stepscope.analyze.phases.idle_code import idle_lines
from stepscope.model import Location

CARRIED = {
    "h = f(h, x)": True,
    "h = np.tanh(x @ u + h @ w)": True,
    "a, b = b, a + b": True,
    "x = layer(x)": True,
    "total += x": False,
    "total = total + x": False,
    "x = x + layer(x)": True,
    "x += layer(x)": True,
    "x = layer(x) + x": True,
    "total += f(x)": False,
    "out[i] = f(x)": False,
    "found.append(f(x))": False,
    "y = x * 2\nout.append(y)": False,
    "if x > 2:\n    n += 1": False,
    "for j in m:\n    if j > i:\n        total = total + f(i, j)": False,
    "for j in m:\n    state = f(state, j)": True,
    "returns[i] = rewards[i] + 0.9 * returns[i + 1]": True,
    "self.h = f(self.h, x)": True,
    "state['h'] = f(state['h'])": True,
    "out[i] = 2 * out[i]": False,
    "for j in m:\n    image[i, j] = f(image[i, j])": False,
    "self.y = f(self.x)": False,
}


@pytest.mark.parametrize(("body", "expected"), CARRIED.items())
def test_a_loop_that_needs_the_turn_before_is_told_from_one_that_does_not(
    body: str, expected: bool
) -> None:
    indented = body.replace("\n", "\n    ")
    loop = ast.parse(f"for i in n:\n    {indented}").body[0]
    assert isinstance(loop, ast.For)
    assert is_carried(loop) is expected


class FakeSources:
    """The texts of one file, as `Sources` returns them."""

    def __init__(self, text: str) -> None:
        self._text = Text(text.splitlines(), ast.parse(text))

    def text(self, _file: str) -> Text:
        return self._text

    def definitions(self, name: str) -> list[Any]:
        return [each for each in self._text.functions() if each.name == name]


PLAIN = """
import numpy as np

for step in range(100):
    x, y = batch(step)
    h = np.maximum(x @ w1, 0)
    p = softmax(h @ w2)
    acc = (p.argmax(1) == y).mean()
    history.append(acc)
    g = h.T @ (p - y)
    w2 -= 0.1 * g
    w1 -= 0.1 * x.T @ ((p - y) @ w2.T)
    if step % 10 == 0:
        print(acc)
"""

OBJECT = """
class Net:
    def train(self, x, y):
        self.w -= x.T @ (self.scores(x) - y)
        return 1.0
    def scores(self, x):
        return x @ self.w

def accuracy(net, x):
    return net.scores(x).mean()

for step in range(100):
    x, y = batch(step)
    loss = net.train(x, y)
    told = accuracy(net, x)
    norm = net.scores(x).max()
    losses.append(loss)
"""


def _idle(text: str) -> set[str]:
    sources: Any = FakeSources(text)
    lines = text.splitlines()
    header = next(i for i, line in enumerate(lines, 1) if line.startswith(("for step", "while")))
    found = idle_lines(sources, Location(file="t.py", line=header, function="<module>"), {})
    return {lines[line - 1].strip() for line in found}


def test_what_no_later_step_needs_is_idle() -> None:
    assert _idle(PLAIN) == {
        "acc = (p.argmax(1) == y).mean()",
        "history.append(acc)",
        "if step % 10 == 0:",
        "print(acc)",
    }


def test_methods_of_the_users_own_are_read_for_what_they_change() -> None:
    assert _idle(OBJECT) == {
        "told = accuracy(net, x)",
        "norm = net.scores(x).max()",
        "losses.append(loss)",
    }


IN_PLACE = """
params = {}
cache = {}

def train_step(x):
    params["w"] -= x
    return 1.0

def looks_at(x):
    found = {}
    found["x"] = 2 * x
    return found

for step in range(100):
    x = batch(step)
    loss = train_step(x)
    told = looks_at(step)
    losses.append(loss)
"""


def test_functions_that_change_what_lies_outside_are_not_idle() -> None:
    assert _idle(IN_PLACE) == {"told = looks_at(step)", "losses.append(loss)"}


UNTIL = """
class Patience:
    def exhausted(self, model):
        self.best = min(self.best, model.error(self.points))
        return self.best < 1

class Model:
    def error(self, points):
        return (points - self.center).mean()

    def learn(self, points):
        self.center = self.center + points.mean()

while seen < 200 and not {condition}:
    model.learn(points[seen])
    seen += 1
"""


def test_a_condition_that_only_asks_whether_to_go_on_is_idle() -> None:
    text = UNTIL.replace("{condition}", "patience.exhausted(model)")
    assert _idle(text) == {"while seen < 200 and not patience.exhausted(model):"}


def test_a_condition_that_trains_is_not() -> None:
    text = UNTIL.replace("{condition}", "model.learn(more)")
    assert _idle(text) == set()


def test_a_decorator_is_put_above_the_function_and_its_import_on_top() -> None:
    text = Text(
        source := ["import os", "", "def get():", "    return 1"], ast.parse("\n".join(source))
    )
    told = decorated("a.py", text, 4, "functools.cache", "import functools")
    assert told is not None
    added = [line for line in told.splitlines() if line.startswith("+")]
    assert added == ["+++ a.py", "+import functools", "+@functools.cache"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "loader = DataLoader(data, batch_size=4)",
            "DataLoader(data, batch_size=4, num_workers=2)",
        ),
        ("loader = DataLoader(data, num_workers=0)", "DataLoader(data, num_workers=2)"),
        ("loader = DataLoader(\n    data,\n)", "data, num_workers=2,"),
    ],
)
def test_an_argument_is_set_in_the_one_call_that_there_is(
    before: str, after: str, tmp_path: Path
) -> None:
    text = Text(before.splitlines(), ast.parse(before))
    told = with_argument("a.py", text, lambda name: name == "DataLoader", "num_workers", "2")
    assert told is not None
    added = [line[1:] for line in told.splitlines() if line.startswith("+") and "+++" not in line]
    patched = "\n".join(added)
    assert after in patched
    ast.parse(patched if "\n" not in before else f"DataLoader(\n{patched}\n)")


def test_two_calls_are_not_guessed_between() -> None:
    source = "a = DataLoader(x)\nb = DataLoader(y)"
    text = Text(source.splitlines(), ast.parse(source))
    assert with_argument("a.py", text, lambda name: name == "DataLoader", "n", "2") is None


def test_the_loop_of_a_generator_is_no_work_by_element() -> None:
    hands_out = ast.parse("for i in range(n):\n    yield made(i)").body[0]
    adds_up = ast.parse("for i in range(n):\n    total += made(i)").body[0]
    assert isinstance(hands_out, ast.For)
    assert isinstance(adds_up, ast.For)
    assert yields(hands_out)
    assert not yields(adds_up)
