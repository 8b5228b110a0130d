"""The arguments of NCCL's and RCCL's kernels in torch's traces, read only when asked for."""

from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.errors import DataError
from stepscope.importers.collectives import Collective
from stepscope.importers.kineto.text import TraceText
from stepscope.importers.unzip import read_whole

_MARK: Final = b'"Collective name"'


class _Args(msgspec.Struct, gc=False):
    collective: Any = msgspec.field(default=None, name="Collective name")
    correlation: Any = None
    in_elements: Any = msgspec.field(default=0, name="In msg nelems")
    out_elements: Any = msgspec.field(default=0, name="Out msg nelems")
    element_type: Any = msgspec.field(default="", name="dtype")
    group_size: Any = msgspec.field(default=0, name="Group size")
    group: Any = msgspec.field(default="", name="Process Group Name")
    ranks: Any = msgspec.field(default="", name="Process Group Ranks")


class _Event(msgspec.Struct, gc=False):
    cat: Any = None
    args: _Args | None = None


def read_collectives(path: Path) -> list[Collective]:
    """In the order of the file. Most traces have none, which a search for a word finds out."""
    try:
        if _MARK not in read_whole(path)[0]:
            return []
        return [
            _collective(event.args)
            for events in TraceText(path, _Event)
            for event in events
            if event.cat == "kernel" and event.args is not None and _is_one(event.args)
        ]
    except DataError:
        return []


def _is_one(args: _Args) -> bool:
    return isinstance(args.collective, str) and isinstance(args.correlation, int)


def _collective(args: _Args) -> Collective:
    return Collective(
        correlation=args.correlation, name=args.collective, in_elements=_count(args.in_elements),
        out_elements=_count(args.out_elements), element_type=str(args.element_type),
        group_size=_count(args.group_size), group=str(args.group), ranks=str(args.ranks),
    )  # fmt: skip


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
