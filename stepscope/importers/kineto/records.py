"""The numbers of operators' calls in torch's traces, read only when another file refers to them."""

from pathlib import Path
from typing import Any

import msgspec

from stepscope.importers.kineto.text import TraceText


class _Args(msgspec.Struct, gc=False):
    external: Any = msgspec.field(default=None, name="External id")
    record: Any = msgspec.field(default=None, name="Record function id")


class _Event(msgspec.Struct, gc=False):
    cat: Any = None
    args: _Args | None = None


def records_of(path: Path) -> dict[int, int]:
    """By the external id of the operator. 0 is no number."""
    found = {}
    for events in TraceText(path, _Event):
        for event in events:
            args = event.args
            if event.cat == "cpu_op" and args is not None and _is_numbered(args):
                found[args.external] = args.record
    return found


def _is_numbered(args: _Args) -> bool:
    return isinstance(args.external, int) and isinstance(args.record, int) and args.record > 0
