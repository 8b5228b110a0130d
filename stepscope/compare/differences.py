"""What differs besides the script, and what that means for the comparison."""

import os
from collections.abc import Iterator
from typing import Any, Final

from stepscope.advise.evidence.words import percent
from stepscope.compare.matched_files import text_of
from stepscope.compare.recording import Recording
from stepscope.compare.side import Side
from stepscope.model.comparison import Difference

_UNKNOWN: Final = "not recorded"
_NOT_THERE: Final = "not there"
_COSTLY: Final = ("calls", "exact", "ops")
_OTHER_SCRIPT: Final = "a step of one may do other work than a step of the other"
_OTHER_MACHINE: Final = "the speed-up may be the machine's: record both on the same one"
_OTHER_VERSIONS: Final = "the speed-up may be theirs"
_OTHER_BATCH: Final = "compared by the time of a sample, not of a step"
_BUSY: Final = "compared on the CPU time of the main thread as well"
_BUSY_WITHOUT_COUNTERS: Final = (
    "record both again on a quiet machine: there are too few counters to compare CPU time"
)
_OTHER_RECORDING: Final = "recording itself costs differently"
_OTHER_RANKS: Final = "a step may be a different amount of work: only the main rank is compared"
_SAME_SCRIPT: Final = 0.5  # of the lines of the shorter one
_SAME_BATCH: Final = 0.01  # the last batch of an epoch is smaller: means differ by that much


def differences(before: Side, after: Side) -> list[Difference]:
    return [*_of_runs(before, after), *_of_steps(before, after)]


def has_other_batch(before: Side, after: Side) -> bool:
    sizes = before.batch_size, after.batch_size
    if sizes[0] is None or sizes[1] is None:
        return False
    return abs(sizes[0] - sizes[1]) > _SAME_BATCH * max(sizes[0], sizes[1])


def _of_runs(before: Side, after: Side) -> Iterator[Difference]:
    """A trace says nothing about how it was made."""
    if before.is_trace or after.is_trace:
        return
    if not _is_same_script(before.first, after.first):
        names = os.path.basename(_script(before.first)), os.path.basename(_script(after.first))
        yield _difference("script", names, _OTHER_SCRIPT)
    machines = _machines(before), _machines(after)
    if machines[0] != machines[1]:
        yield _difference("machine", machines, _OTHER_MACHINE)
    if changed := _changed(_versions(before), _versions(after)):
        yield _difference("versions", changed, _OTHER_VERSIONS)
    if changed := _changed(_recorded(before), _recorded(after)):
        yield _difference("recording", changed, _OTHER_RECORDING)


def _is_same_script(before: Recording, after: Recording) -> bool:
    """Whether one program is the other, perhaps edited: by the lines of all the user's files,
    as far as their texts are known. A fixed script may import the rest from the slow one."""
    lines = [_lines(each) for each in (before, after)]
    if not all(lines):
        return True
    return len(lines[0] & lines[1]) >= _SAME_SCRIPT * min(map(len, lines))


def _lines(recording: Recording) -> set[str]:
    return {
        line.strip()
        for file in recording.process.names.files.values()
        for line in text_of(recording, file.path) or ()
        if line.strip()
    }


def _script(recording: Recording) -> str:
    return recording.run.info.script or ""


def _samples(side: Side) -> str:
    size = side.batch_size or 0.0
    return f"{size:,.0f} samples" if size >= 1000 else f"{size:.4g} samples"


def _of_steps(before: Side, after: Side) -> Iterator[Difference]:
    if _ranks(before) != _ranks(after):
        yield _difference("ranks", (str(_ranks(before)), str(_ranks(after))), _OTHER_RANKS)
    if has_other_batch(before, after):
        sizes = _samples(before), _samples(after)
        yield _difference("batch size", sizes, _OTHER_BATCH)
    if before.is_busy or after.is_busy:
        has_cpu_times = before.has_cpu_times and after.has_cpu_times
        effect = _BUSY if has_cpu_times else _BUSY_WITHOUT_COUNTERS
        yield _difference("busy machine", (_waited(before), _waited(after)), effect)


def _difference(what: str, sides: tuple[str, str], effect: str) -> Difference:
    return Difference(what=what, before=sides[0], after=sides[1], effect=effect)


def _waited(side: Side) -> str:
    return f"{percent(side.without_core or 0.0)} of the time without a core"


def _versions(side: Side) -> dict[str, str]:
    return _joined([each.run.info.versions for each in side.recordings])


def _recorded(side: Side) -> dict[str, str]:
    """The options that make recording cheaper or dearer."""
    options = [each.run.info.options for each in side.recordings]
    return _joined([{name: each.get(name) for name in _COSTLY} for each in options])


def _joined(recordings: list[dict[str, Any]]) -> dict[str, str]:
    """What several runs of a side say, where they differ."""
    names = {name: None for each in recordings for name in each}
    return {
        name: " or ".join(dict.fromkeys(str(each.get(name, _NOT_THERE)) for each in recordings))
        for name in names
    }


def _machines(side: Side) -> str:
    return " or ".join(dict.fromkeys(_machine(each) for each in side.recordings))


def _machine(recording: Recording) -> str:
    """Named by what makes it fast or slow; a container gets a new host name every time."""
    machine = recording.run.info.machine
    cores = machine.container_cores or machine.cores
    parts = (machine.cpu, f"{cores:g} cores" if cores else None)
    return ", ".join(part for part in parts if part) or _UNKNOWN


def _ranks(side: Side) -> int:
    processes = side.first.run.processes
    return len({process.info.rank for process in processes if process.info.role == "rank"})


def _changed(before: dict[str, str], after: dict[str, str]) -> tuple[str, str] | None:
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    if not keys:
        return None
    one, other = (
        ", ".join(f"{key} {values.get(key, _NOT_THERE)}" for key in keys)
        for values in (before, after)
    )
    return one, other
