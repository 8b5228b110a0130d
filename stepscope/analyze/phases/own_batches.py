"""The script's own code that makes the batches, as samples show it.

1. `for batch in batches(...)`: what the step loop's header calls is waiting for the batch, whatever
   it does. A condition of a `while` brings none, unless it assigns what it got.
2. `batch = dataset[i]`, `batch = next(stream)`: where a framework trains, so is what the step
   loop's function asks an object or a generator of the script's own for. Without one, an array of
   its own may be asked for an element in the middle of the training.

What trains (`for loss in train(...)`) does the step's own work.
"""

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from stepscope.analyze.phases.evaluating_lines import Key, key_of, step_headers
from stepscope.analyze.phases.looks import Frame, Look
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.store.reader import ProcessData

Line = tuple[str, str, int]  # file, function, line
_READS: Final = ("__getitem__", "__next__")
_NEXT: Final = re.compile(r"(?<![\w.])next\(")
_PASSES: Final = ("forward", "backward", "optimizer", "compute")
_TRAINS: Final = 0.05  # of the time in the passes: less is chance
_ALL: Final = 0.97  # of a step: nothing is left that could train


@dataclasses.dataclass(frozen=True)
class OwnBatches:
    """Where the steps ask for them."""

    headers: frozenset[Line]  # of the step loop
    readers: frozenset[tuple[Line, Key]]  # a line in its body, and the function that it asks

    def below(self, look: Look) -> tuple[Frame, ...]:
        """The frames that were called there; none if there are none."""
        for line, frames in _calls(look):
            if line in self.headers:
                return frames
            if line in self._asking and (line, _key(frames)) in self.readers:
                return frames
        return ()

    def makes(self, look: Look) -> bool:
        """Whether the user's own code runs there."""
        return any(frame.is_users for frame in self.below(look))

    def is_at(self, look: Look) -> bool:
        """In a header itself: the batch before is freed there."""
        return bool(look.users) and _line(look.users[-1]) in self.headers

    @functools.cached_property
    def _asking(self) -> set[Line]:
        return {line for line, _ in self.readers}


def own_batches(
    process: ProcessData, steps: FoundSteps, looks: Iterable[Look], *, is_framework: bool
) -> OwnBatches:
    looks, texts = list(looks), _Texts(process)
    found = {(each.file, each.function or "", each.line) for each in step_headers(process, steps)}
    headers = {
        OwnBatches(frozenset({line}), frozenset()) for line in found if texts.brings_batches(line)
    }
    asked = _asked(looks, {line[:2] for line in found}, texts) if is_framework else set()
    readers = {OwnBatches(frozenset(), frozenset({each})) for each in asked}
    kept = [each for each in headers | readers if not _trains(looks, each, is_framework)]
    return OwnBatches(
        frozenset().union(*(each.headers for each in kept)),
        frozenset().union(*(each.readers for each in kept)),
    )


def _calls(look: Look) -> Iterator[tuple[Line, tuple[Frame, ...]]]:
    """Each line of the user's, and the frames below it."""
    for number, frame in enumerate(look.frames):
        yield _line(frame), look.frames[number + 1 :]


def _line(frame: Frame) -> Line:
    return (*key_of(frame), frame.line)


def _key(frames: tuple[Frame, ...]) -> Key | None:
    """The function that was called; a comprehension is part of what it stands in."""
    called = (key_of(frame) for frame in frames if frame.is_users)
    return next((key for key in called if not key[1].rpartition(".")[2].startswith("<")), None)


def _asked(looks: list[Look], functions: set[Key], texts: "_Texts") -> set[tuple[Line, Key]]:
    """What the functions that have the step loop ask for one item after the other."""
    found = set()
    for look in looks:
        for line, frames in _calls(look):
            key = _key(frames) if line[:2] in functions else None
            if key is not None and texts.is_reader(line, key):
                found.add((line, key))
    return found


def _trains(looks: list[Look], asked: OwnBatches, is_framework: bool) -> bool:
    inside = [look for look in looks if asked.makes(look)]
    whole = sum(look.ns for look in inside)
    if not is_framework:
        return whole > _ALL * sum(look.ns for look in looks)
    return sum(look.ns for look in inside if look.phase in _PASSES) > _TRAINS * whole


class _Texts:
    def __init__(self, process: ProcessData) -> None:
        self._process = process
        codes, paths = process.names.codes.values(), process.names.files
        self._generators = {
            (paths[code.file].path, code.function)
            for code in codes
            if code.kind == "generator" and code.file in paths
        }

    def text(self, line: Line) -> str:
        path, _, number = line
        return self._process.text_at(path, number).strip()

    def is_reader(self, line: Line, key: Key) -> bool:
        if key[1].rpartition(".")[2] in _READS:
            return True
        return key in self._generators and bool(_NEXT.search(self.text(line)))

    def brings_batches(self, line: Line) -> bool:
        text = self.text(line)
        return bool(text) and (not text.startswith("while") or ":=" in text)
