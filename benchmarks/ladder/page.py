"""The ladders as a page: a table of the rungs, and what `stepscope try` itself prints."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from rich.console import Console

from benchmarks import machine
from benchmarks.ratios import in_brackets
from benchmarks.zoo.results import markdown
from stepscope.model.trial import Rung, TrialAnswer
from stepscope.show.terminal.ladder import ladder

WIDTH = 100
HEADER = ["", "steps/s", "samples/s", "gain, measured", "predicted", "losses", ""]
INTRODUCTION = """# From the slow original, rung by rung

Made by `make ladder`; do not edit. Each script of `examples/ladder/` is written as one writes it
for it to work. `stepscope try --ladder` applies to it, from outside, every fix that fits: how data
is read, graphs, compilers, precision. A gain is that on top of what was kept above it, in rounds
that take turns with runs without it, and in brackets its range; what does not stand out from the
noise, or changes the training, is not kept. "Predicted" is what a finding promised beforehand; –:
no finding asked for it. One compute thread, unless the framework takes more by itself.
"""


class Climbed(msgspec.Struct, frozen=True):
    """A script's ladder, and where it was climbed."""

    name: str
    command: list[str]  # as one would type it
    machine: dict[str, Any]
    answer: TrialAnswer


def page(climbed: Iterable[Climbed]) -> str:
    """benchmarks/ladder/results.md"""
    return INTRODUCTION + "".join(map(section, climbed))


def section(climbed: Climbed) -> str:
    versions = climbed.machine["versions"]
    named = (f"{name} {versions[name]}" for name in used_versions(versions))
    return f"""
## {climbed.name}: {in_all(climbed.answer)}

{machine.sentence(climbed.machine)}; {", ".join(named)}

{rungs_table(climbed.answer)}

```console
$ {" ".join(climbed.command)}
{text(climbed.answer)}
```
"""


def used_versions(versions: dict[str, str]) -> list[str]:
    """Of what the scripts use, not of other profilers."""
    return [name for name in versions if name in ("numpy", "torch", "tensorflow-cpu", "keras")]


def in_all(answer: TrialAnswer) -> str:
    kept = [rung.speedup for rung in answer.rungs if rung.status == "kept" and rung.speedup]
    if not kept:
        return "nothing gained"
    found = answer.together.expected if answer.together else math.prod(kept)
    return f"{found:.2f}× as fast"


def rungs_table(answer: TrialAnswer) -> str:
    return markdown(HEADER, rows(answer))


def rows(answer: TrialAnswer) -> Iterator[list[str]]:
    """The script as it is, then what was measured, in the order in which it was tried."""
    begun = answer.baseline
    batch = begun.samples_per_s / begun.per_s if begun.samples_per_s else None
    yield ["as it is", *rates(begun.step_ms, batch), "", "", "", ""]
    for rung in answer.rungs:
        if rung.step_ms is not None:
            yield [f"{rung.fix}: {rung.title}", *rates(rung.step_ms, batch), *judged(rung)]


def rates(step_ms: float, batch: float | None) -> list[str]:
    per_s = 1e3 / step_ms
    return [f"{per_s:.1f}", f"{per_s * batch:,.0f}" if batch else "–"]


def judged(rung: Rung) -> list[str]:
    predicted = rung.predicted
    return [
        in_brackets(rung.speedup, rung.low, rung.high),
        in_brackets(predicted.expected, predicted.low, predicted.high) if predicted else "–",
        rung.loss.words if rung.loss else "–",
        "**kept**" if rung.status == "kept" else f"{rung.status}: {rung.reason}",
    ]


def text(answer: TrialAnswer) -> str:
    """What a terminal shows."""
    console = Console(width=WIDTH, color_system=None, highlight=False, emoji=False, markup=False)
    with console.capture() as captured:
        console.print(ladder(answer))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
