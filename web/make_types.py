"""Writes src/model.ts: TypeScript types for what Python hands to the page, made from the records.

It is committed, so that the page can be built before stepscope is installed. `--check` writes
nothing, and fails if the file does not match the records.
"""

import sys
import types
import typing
from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.analyze.answers.run_list import RunEntry
from stepscope.show.report.shapes import content_type
from stepscope.show.server.runs import RunProgress

FILE: Final = Path(__file__).parent / "src" / "model.ts"
ROOTS: Final = (content_type(), RunEntry, RunProgress)
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
    """The records found so far, each after those that it contains."""

    def __init__(self) -> None:
        self._found: dict[type[msgspec.Struct], str] = {}

    def add(self, record: type[msgspec.Struct]) -> str:
        """The record's name, which is also the name of its interface."""
        if record not in self._found:
            body = _lines([f"{self._field(each)};" for each in msgspec.structs.fields(record)])
            name = record.__name__
            if any(each.__name__ == name for each in self._found):
                raise TypeError(f"Two records that reach the page are both called {name}.")
            self._found[record] = f"{_comment(record)}export interface {name} {{\n{body}}}\n"
        return record.__name__

    def __str__(self) -> str:
        return "\n".join([HEAD, *self._found.values()])

    def _field(self, field: msgspec.structs.FieldInfo) -> str:
        kinds = typing.get_args(field.type) if _is_union(field.type) else (field.type,)
        present = [kind for kind in kinds if kind is not msgspec.UnsetType]
        mark = "?" if len(present) < len(kinds) else ""  # left out of the JSON if it is not set
        return f"{field.encode_name}{mark}: {' | '.join(map(self._type, present))}"

    def _type(self, hint: Any) -> str:
        if hint in PLAIN:
            return PLAIN[hint]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self.add(hint)
        arguments = typing.get_args(hint)
        if typing.get_origin(hint) is typing.Literal:
            return " | ".join(f'"{word}"' for word in arguments)
        inner = [self._type(each) for each in arguments]
        if _is_union(hint):
            return " | ".join(inner)
        return _container(typing.get_origin(hint), inner, hint)


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


def main() -> int:
    interfaces = Interfaces()
    for record in ROOTS:
        interfaces.add(record)
    if "--check" not in sys.argv[1:]:
        FILE.write_text(str(interfaces))
    elif FILE.read_text() != str(interfaces):
        print("web/src/model.ts does not match the records: run web/make_types.py.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
