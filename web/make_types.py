"""Writes src/model/: TypeScript types for what Python hands to the page, made from the records.

answers.ts has what `--json` prints as well, device.ts the part of it that is about devices,
content.ts what only the page gets, colours.ts the colours of the phases, which the terminal has as
well. They are committed, so that the page can be built before stepscope is installed. `--check`
writes nothing, and fails if a file does not match the records.
"""

import collections
import json
import sys
import textwrap
import types
import typing
from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.analyze.answers.run_list import RunEntry
from stepscope.model import SummaryAnswer
from stepscope.model.comparison import ComparisonAnswer
from stepscope.model.device import DeviceDetails
from stepscope.model.findings import FindingsAnswer
from stepscope.model.ops import OpsAnswer
from stepscope.model.phase_colours import (
    PART_COLOURS,
    PHASE_COLOURS,
    RANK_COLOURS,
    XPROF_COLOURS,
)
from stepscope.model.ranks import TracedRanks
from stepscope.model.trial import TrialAnswer
from stepscope.show.report.shapes import WHOLE_ANSWERS, content_type
from stepscope.show.server.runs import RunProgress

FOLDER: Final = Path(__file__).parent / "src" / "model"
ANSWERS: Final[tuple[type[msgspec.Struct], ...]] = (
    *(SummaryAnswer, FindingsAnswer, OpsAnswer, ComparisonAnswer, TrialAnswer),
    *(view.answer_type for view in WHOLE_ANSWERS),
)
CONTENT: Final = (content_type(), RunEntry, RunProgress)
HEAD: Final = (
    "// Made from the Python records by web/make_types.py: change those and run it again.\n"
)
WIDEST: Final = 100  # characters in a line
PLAIN: Final[dict[Any, str]] = {
    Any: "unknown",
    bool: "boolean",
    float: "number",
    int: "number",
    str: "string",
    types.NoneType: "null",
}


class Interfaces:
    """The records of one file, each after those that it contains."""

    def __init__(self, *roots: type[msgspec.Struct], **imported: "Interfaces") -> None:
        """`imported`: those of other files, by the file's name."""
        self._imported = imported
        self._used: dict[str, set[str]] = collections.defaultdict(set)  # of those
        self._found: dict[type[msgspec.Struct], str] = {}
        for record in roots:
            self._add(record)

    def _add(self, record: type[msgspec.Struct]) -> str:
        """The record's name, which is also the name of its interface."""
        name = record.__name__
        others = (file for file, them in self._imported.items() if record in them._found)
        if (file := next(others, None)) is not None:
            self._used[file].add(name)
        elif record not in self._found:
            body = _lines([f"{self._field(each)};" for each in msgspec.structs.fields(record)])
            self._found[record] = f"{_comment(record)}export interface {name} {{\n{body}}}\n"
        return name

    def __str__(self) -> str:
        return "\n".join([HEAD, *self._import(), *self._found.values()])

    def names(self) -> list[str]:
        return [record.__name__ for record in self._found]

    def _import(self) -> list[str]:
        return [
            f'import type {{\n{_wrapped(sorted(names))},\n}} from "./{file}";\n'
            for file, names in sorted(self._used.items())
        ]

    def _field(self, field: msgspec.structs.FieldInfo) -> str:
        kinds = typing.get_args(field.type) if _is_union(field.type) else (field.type,)
        present = [kind for kind in kinds if kind is not msgspec.UnsetType]
        mark = "?" if len(present) < len(kinds) else ""  # left out of the JSON if it is not set
        return f"{field.encode_name}{mark}: {' | '.join(map(self._type, present))}"

    def _type(self, hint: Any) -> str:
        if hint in PLAIN:
            return PLAIN[hint]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self._add(hint)
        arguments = typing.get_args(hint)
        if typing.get_origin(hint) is typing.Literal:
            return " | ".join(f'"{word}"' for word in arguments)
        inner = [self._type(each) for each in arguments]
        if _is_union(hint):
            return " | ".join(inner)
        return _container(typing.get_origin(hint), inner, hint)


def _wrapped(names: list[str]) -> str:
    return textwrap.fill(", ".join(names), WIDEST, initial_indent="  ", subsequent_indent="  ")


def _lines(fields: list[str]) -> str:
    """As many on a line as fit."""
    lines: list[str] = []
    for field in fields:
        if lines and len(lines[-1]) + len(field) < WIDEST:
            lines[-1] += f" {field}"
        else:
            lines.append(f"  {field}")
    return "".join(f"{line}\n" for line in lines)


def _container(origin: Any, inner: list[str], hint: Any) -> str:
    if origin is list:
        return f"({inner[0]})[]" if "|" in inner[0] else f"{inner[0]}[]"
    if origin is dict:
        return f"Record<{inner[0]}, {inner[1]}>"
    if origin is tuple:
        return f"[{', '.join(inner)}]"
    raise TypeError(f"The page has no type for {hint}: add one to web/make_types.py.")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (types.UnionType, typing.Union)


def _comment(record: type[msgspec.Struct]) -> str:
    return f"// {' '.join(record.__doc__.split())}\n" if record.__doc__ else ""


def files() -> dict[Path, str]:
    """Each file's text."""
    device = Interfaces(DeviceDetails, TracedRanks)
    answers = Interfaces(*ANSWERS, device=device)
    content = Interfaces(*CONTENT, answers=answers, device=device)
    names = collections.Counter([*device.names(), *answers.names(), *content.names()])
    if twice := [name for name, count in names.items() if count > 1]:
        raise TypeError(f"Two records that reach the page are both called {twice[0]}.")
    parts = {"device": device, "answers": answers, "content": content}
    made = {FOLDER / f"{file}.ts": str(each) for file, each in parts.items()}
    colours = _colours(PHASES=PHASE_COLOURS | XPROF_COLOURS, PARTS=PART_COLOURS, RANKS=RANK_COLOURS)
    return {**made, FOLDER / "colours.ts": colours}


def _colours(**tables: dict[str, str]) -> str:
    made = [
        f"export const {name}: Record<string, string> = {json.dumps(table, indent=2)};\n"
        for name, table in tables.items()
    ]
    return "\n".join([HEAD, *made])


def main() -> int:
    status = 0
    for file, text in files().items():
        if "--check" not in sys.argv[1:]:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"web/src/model/{file.name} does not match the records: run web/make_types.py.")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
