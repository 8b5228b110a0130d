"""line_profiler's settings file, as far as it is about tables: how wide their columns are.

`[tool.line_profiler.show.column_widths]` in the file given, in that of LINE_PROFILER_RC, or in the
nearest line_profiler.toml or pyproject.toml around the working folder.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

WIDTHS: Final = (6, 9, 12, 8, 8)
_COLUMNS: Final = ("line", "hits", "time", "perhit", "percent")
_VARIABLE: Final = "LINE_PROFILER_RC"
_FILES: Final = ("line_profiler.toml", "pyproject.toml")
Config = str | os.PathLike[str] | bool | None  # a file; False: none; else it is looked for


def column_widths(config: Config) -> tuple[int, ...]:
    """Never less than line_profiler's own. A file that was given is refused if it is wrong; in one
    that was looked for, what is wrong does not count: the table is wanted anyway."""
    if config is False:
        return WIDTHS
    wanted = _given(config) if isinstance(config, str | os.PathLike) else _found()
    pairs = zip(_COLUMNS, WIDTHS, strict=True)
    return tuple(max(least, wanted.get(name, least)) for name, least in pairs)


def _given(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    try:
        widths = _widths_in(Path(path))
    except OSError as error:
        raise FileNotFoundError(f"Cannot read the settings in '{path}': {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"Cannot read the settings in '{path}': {error}.") from error
    for name, width in widths.items():
        if not _is_width(name, width):
            raise ValueError(
                f"'{path}' has '{name} = {width}', which is not the width of a column: there are "
                f"{', '.join(_COLUMNS)}."
            )
    return widths


def _found() -> Mapping[str, Any]:
    """The first file that has some; others need not be readable."""
    for path in _around():
        try:
            widths = _widths_in(path)
        except (OSError, tomllib.TOMLDecodeError):
            continue
        if widths:
            return {name: width for name, width in widths.items() if _is_width(name, width)}
    return {}


def _is_width(name: str, width: Any) -> bool:
    return name in _COLUMNS and isinstance(width, int)


def _around() -> Iterator[Path]:
    named = os.environ.get(_VARIABLE)
    if named:
        yield Path(named)
        return
    here = Path.cwd()
    for folder in (here, *here.parents):
        yield from (folder / name for name in _FILES)


def _widths_in(path: Path) -> Mapping[str, Any]:
    with open(path, "rb") as file:
        table: Any = tomllib.load(file)
    for key in ("tool", "line_profiler", "show", "column_widths"):
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}
