"""The format in C and in Python: every field, enumerator and constant of one is in the other."""

import enum
import inspect
import re
from pathlib import Path

from stepscope.store import format as fmt

HEADER = Path(fmt.__file__).parents[1] / "native" / "storage" / "format.h"
SIZES = {"char": 1, "uint8_t": 1, "uint32_t": 4, "uint64_t": 8}
STRUCT = re.compile(r"typedef struct \w* ?\{\n(.*?)\n\} (\w+);", re.DOTALL)
FIELD = re.compile(r"(?:const |struct )?(\w+) (\*?)(\w+)(?:\[(\d+)\])?;")
ENUM = re.compile(r"^enum (\w*) ?\{(.*?)\};", re.DOTALL | re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+) (.+)$", re.MULTILINE)

Field = tuple[str, int, int]  # name, offset, bytes


def in_c() -> str:
    return re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)


def fields_in_c(body: str) -> list[Field]:
    """As the compiler lays them out: each at a multiple of its size."""
    found, at = [], 0
    for declared in body.splitlines():
        match = FIELD.fullmatch(declared.strip())
        assert match, f"a field that this test cannot read: {declared}"
        kind, pointer, name, length = match.groups()
        size = 8 if pointer else SIZES[kind]
        at = -(-at // size) * size
        found.append((name, at, size * int(length or 1)))
        at += found[-1][2]
    return found


def fields_in_python(layout: fmt.Layout) -> list[Field]:
    found, at = [], 0
    for name, kind in layout.fields.items():
        size = fmt.Layout(field=kind).size
        found.append((name, at, size))
        at += size
    assert at == layout.size
    return found


def words(name: str) -> str:
    """CallNode: CALL_NODE."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def test_every_structure_has_the_same_fields_at_the_same_places() -> None:
    c = {words(name): fields_in_c(body) for body, name in STRUCT.findall(in_c())}
    c["HEADER"] = c.pop("FILE_HEADER")
    python = {
        name: fields_in_python(layout)
        for name, layout in vars(fmt).items()
        if isinstance(layout, fmt.Layout)
    }
    assert len(python) >= 9
    assert c == python


def enumerators_in_c(name: str, body: str) -> dict[str, int]:
    """Without their prefix: the first word of their enumeration, or all of it."""
    pairs = [each.split("=") for each in body.split(",") if each.strip()]
    values = {key.strip(): int(value, 0) for key, value in pairs}
    whole, first = f"{words(name)}_", f"{words(name).partition('_')[0]}_"
    prefix = whole if all(key.startswith(whole) for key in values) else first
    assert all(key.startswith(prefix) for key in values)
    return {key.removeprefix(prefix): value for key, value in values.items()}


def test_every_enumeration_has_the_same_numbers() -> None:
    c = {name: enumerators_in_c(name, body) for name, body in ENUM.findall(in_c())}
    python = {
        name: {key: int(value) for key, value in kind.__members__.items()}
        for name, kind in inspect.getmembers(fmt, inspect.isclass)
        if issubclass(kind, enum.IntEnum | enum.IntFlag) and kind.__module__ == fmt.__name__
    }
    assert len(python) >= 12
    assert c == python


def test_every_constant_has_the_same_value() -> None:
    c: dict[str, object] = {}
    for name, value in DEFINE.findall(in_c()):
        number = re.sub(r"(?<=[0-9A-F])(u|ull)\b", "", value)
        c[name] = eval(number, {}, dict(c))  # our own header
    c["MAGIC"] = str(c.pop("FORMAT_MAGIC")).encode()
    python = {
        name: value
        for name, value in vars(fmt).items()
        if name.isupper() and type(value) in (int, bytes)
    }
    assert len(python) >= 13
    assert c == python
