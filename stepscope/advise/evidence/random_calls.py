"""Calls in the user's source that draw random numbers."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.source import Function, Sources, Text

_DRAWS: Final = re.compile(
    r"^(np|numpy)\.random\.(?!default_rng|Generator|RandomState|seed)"
    r"|^random\.(?!Random|seed)"
    r"|^torch\.(rand|randn|randint|randperm|rand_like|randn_like|bernoulli|multinomial|normal)$"
    # With a seed as an argument, a function draws the same at every call.
    r"|^(tf|tensorflow)\.random\.(?!stateless_)|^tf\.image\.(stateless_)?random_"
    r"|^jax\.random\."
    r"|\b_?(rng|generator|random_state)\.\w+$"
    r"|\.(random_|normal_|uniform_|bernoulli_|exponential_)$"
    r"|^(randint|randrange|uniform|gauss|shuffle|choices?|sample)$"
    r"|\b(Random[A-Z]\w*|ColorJitter|GaussianNoise)$"
)
# What makes a generator; with a seed it gives the same numbers at every call of the function.
_MAKES: Final = ("default_rng", "RandomState", "Random")
_SAMPLES: Final = ("__getitem__", "__getitems__", "__iter__", "__next__", "__call__")


def random_line(function: Function, sources: Sources) -> int | None:
    """The first line of the function that draws, also in functions of the user's that it calls by
    name: then the line of the call."""
    return next(_random_lines(function, sources, {function.name}), None)


def _random_lines(function: Function, sources: Sources, seen: set[str]) -> Iterator[int]:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    seeded = _seeded_here(function)
    for call in sorted(calls, key=lambda each: each.lineno):
        name = ast.unparse(call.func)
        if name.partition(".")[0] in seeded:
            continue
        if _DRAWS.search(name):
            yield call.lineno
            continue
        last = name.rpartition(".")[2]
        if last not in seen:
            seen.add(last)
            inner = sources.definitions(last)
            if any(next(_random_lines(each, sources, seen), None) for each in inner):
                yield call.lineno


def _seeded_here(function: Function) -> set[str]:
    """Generators that the function makes itself, from a seed: `rng = np.random.default_rng(i)`."""
    return {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _makes_seeded(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _makes_seeded(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = ast.unparse(value.func).rpartition(".")[2]
    return name in _MAKES and bool(value.args or value.keywords)


def in_datasets(sources: Sources) -> str | None:
    """Where the samples of one of the user's data sets are random: "data.py:31"."""
    for file in sources.files:
        text = sources.text(file)
        for function in text.functions() if text else ():
            if function.name in _SAMPLES and (line := random_line(function, sources)) is not None:
                return f"{file}:{line}"
    return None


def samples_of(sources: Sources) -> tuple[str, Text, Function] | None:
    """The first `__getitem__` of the user's."""
    for file in sources.files:
        text = sources.text(file)
        for function in text.functions() if text else ():
            if text is not None and function.name == "__getitem__":
                return file, text, function
    return None
