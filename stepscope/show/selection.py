"""Which part of a run is shown: by process, rank, function and file, in which order."""

import dataclasses
import fnmatch
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from stepscope.errors import InputError
from stepscope.model import FunctionLines, FunctionRow, StacksAnswer

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

Answer = TypeVar("Answer", bound=msgspec.Struct)
Key = Callable[[Any], Any]


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of `show` choose; an empty one chooses everything."""

    functions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sort: str | None = None


# Functions sort by pstats' names; what is not known comes last.
_FUNCTION_SORTS: Final[dict[str, Key]] = {
    "tottime": lambda row: -(row.tottime_ns or 0),
    "cumtime": lambda row: -(row.cumtime_ns or 0),
    "ncalls": lambda row: -(row.ncalls or 0),
    "pcalls": lambda row: -(row.primitive_calls or 0),
    "name": lambda row: row.function,
    "nfl": lambda row: (row.function, row.file, row.line),
    "stdname": lambda row: (row.file, row.line, row.function),
    "filename": lambda row: row.file,
    "line": lambda row: row.line,
}
_FUNCTION_ALIASES: Final = {
    "time": "tottime",
    "cumulative": "cumtime",
    "calls": "ncalls",
    "file": "filename",
    "module": "filename",
}

# Actions and regions, which nest.
_TREE_SORTS: Final[dict[str, Key]] = {
    "tree": lambda row: 0,
    "total": lambda row: -row.total_ns,
    "self": lambda row: -row.self_ns,
    "calls": lambda row: -row.calls,
    "name": lambda row: row.name,
}

# Operators sort by torch's names; "cuda" means the device, whatever it is.
_OP_SORTS: Final[dict[str, Key]] = {
    "self_cpu_time_total": lambda row: -row.self_cpu_ns,
    "cpu_time_total": lambda row: -row.total_cpu_ns,
    "cpu_time": lambda row: -row.total_cpu_ns / max(1, row.calls),
    "count": lambda row: -row.calls,
    "cpu_memory_usage": lambda row: -(row.total_cpu_bytes or 0),
    "self_cpu_memory_usage": lambda row: -(row.self_cpu_bytes or 0),
    "self_device_time_total": lambda row: -(row.self_device_ns or 0),
    "device_time_total": lambda row: -(row.total_device_ns or 0),
    "device_time": lambda row: -(row.total_device_ns or 0) / max(1, row.calls),
    "self_device_memory_usage": lambda row: -(row.self_device_bytes or 0),
    "flops": lambda row: -(row.flops or 0),
    "name": lambda row: row.name,
}
_OP_ALIASES: Final = {
    name.replace("device", device): name
    for name in _OP_SORTS
    for device in ("cuda", "xpu")
    if "device" in name
} | {"time": "self_cpu_time_total", "calls": "count"}

# For each view: the field that holds its rows, and what they can be sorted by (largest first for
# numbers). The first key is how the analysis sorted them already.
ROWS: Final[dict[str, tuple[str, dict[str, Key]]]] = {
    "lines": (
        "functions",
        {
            "time": lambda row: -row.total_ns,
            "hits": lambda row: -sum(line.hits for line in row.lines),
            "name": lambda row: (row.file, row.first_line),
        },
    ),
    "functions": (
        "functions",
        _FUNCTION_SORTS
        | {alias: _FUNCTION_SORTS[name] for alias, name in _FUNCTION_ALIASES.items()},
    ),
    "stacks": (
        "threads",
        {
            "main": lambda row: 0,
            "time": lambda row: -row.total_ns,
            "name": lambda row: row.thread,
        },
    ),
    "actions": ("actions", _TREE_SORTS),
    "ops": ("ops", _OP_SORTS | {alias: _OP_SORTS[name] for alias, name in _OP_ALIASES.items()}),
    "kernels": (
        "kernels",
        {
            "time": lambda row: -row.total_ns,
            "calls": lambda row: -row.calls,
            "mean": lambda row: -row.mean_ns,
            "name": lambda row: row.name,
        },
    ),
    "regions": ("regions", _TREE_SORTS),
    "files": (
        "files",
        {
            "time": lambda row: -row.total_ns,
            "opens": lambda row: -row.opens,
            "name": lambda row: row.path,
        },
    ),
    "memory": (
        "processes",
        {
            "start": lambda row: 0,
            "peak": lambda row: -row.peak_bytes,
            "growth": lambda row: -(row.growth_bytes_per_step or 0.0),
        },
    ),
    "ranks": (
        "ranks",
        {
            "rank": lambda row: row.rank,
            "step": lambda row: -(row.step_ms or 0.0),
            "own": lambda row: -(row.own_ms or 0.0),
            "waiting": lambda row: -(row.waiting_ms or 0.0),
        },
    ),
    "processes": (
        "processes",
        {
            "start": lambda row: 0,
            "time": lambda row: -row.wall_ns,
            "cpu": lambda row: -(row.cpu_ns or 0),
            "peak": lambda row: -(row.peak_bytes or 0),
        },
    ),
    "steps": (
        "each",
        {"start": lambda step: step.start_ns, "time": lambda step: -step.duration_ns},
    ),
}


def only(run: "Run", *, process: int | None = None, rank: int | None = None) -> "Run":
    """The run as if nobody else had taken part than the process asked for by pid or rank."""
    from stepscope.analyze.run import select as select_process

    if process is None and rank is None:
        return run
    chosen = select_process(run, process, rank)
    return dataclasses.replace(run, processes=[] if chosen is None else [chosen])


def select(view: str, answer: Answer, selection: Selection) -> Answer:
    """The answer with the chosen rows only, in the chosen order."""
    if view not in ROWS:
        return answer
    field, sort_keys = ROWS[view]
    rows = getattr(answer, field)
    if not isinstance(rows, list):
        return answer
    chosen = [row for row in rows if _is_chosen(row, selection)]
    _require_a_match(rows, chosen)
    if selection.sort is not None:
        chosen.sort(key=_sort_key(view, selection.sort, sort_keys))
    return msgspec.structs.replace(answer, **{field: chosen})


def of_thread(answer: StacksAnswer, name: str | None) -> StacksAnswer:
    """The stacks of the threads of that name, which may be a pattern."""
    if name is None:
        return answer
    chosen = [each for each in answer.threads if fnmatch.fnmatchcase(each.thread, name)]
    if not chosen:
        there = ", ".join(dict.fromkeys(each.thread for each in answer.threads)) or "none"
        raise InputError(f"No thread is called '{name}'. There are: {there}.")
    return msgspec.structs.replace(answer, threads=chosen)


def sort_names(view: str) -> tuple[str, ...]:
    return tuple(ROWS[view][1]) if view in ROWS else ()


def _sort_key(view: str, name: str, keys: dict[str, Key]) -> Key:
    if name not in keys:
        raise InputError(f"Cannot sort {view} by '{name}'. It sorts by: {', '.join(keys)}.")
    return keys[name]


def _is_chosen(row: Any, selection: Selection) -> bool:
    if not isinstance(row, FunctionLines | FunctionRow):
        return True
    return _is_named(row, selection.functions) and _is_in(row, selection.files)


def _is_named(row: FunctionLines | FunctionRow, names: Sequence[str]) -> bool:
    """By its qualified name, its plain one, or a part of the qualified one from a dot on."""
    return not names or any(
        row.function in (name, f"<{name}>") or row.function.endswith(("." + name, f".{name}>"))
        for name in names
    )


def _is_in(row: FunctionLines | FunctionRow, globs: Sequence[str]) -> bool:
    """By the path as shown, or the file's own name."""
    base = row.file.rsplit("/", 1)[-1]
    return not globs or any(
        fnmatch.fnmatch(row.file, glob) or fnmatch.fnmatch(base, glob) for glob in globs
    )


def _require_a_match(rows: list[Any], chosen: list[Any]) -> None:
    """An empty choice out of something is a mistake in the options, so say what there is."""
    if chosen or not rows:
        return
    known = list(dict.fromkeys(f"{row.function} ({row.file})" for row in rows))
    some = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
    raise InputError(f"No recorded function matches. There are: {some}.")
