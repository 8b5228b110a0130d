"""Names of a run or a trace as harmless text: what a terminal would obey is spelled out.

An escape sequence can move the cursor, rename the window or type into the shell; marks of direction
make a line read as another one. The report's page spells out the same characters
(`web/src/parts/links.tsx`).
"""

import re
from typing import Final

# Control characters but tab and newline, marks without a width, line separators, marks of
# direction, and halves of characters, which no stream can write.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def spelled_out(text: str, *, lines: bool = True) -> str:
    """`lines`: newlines stay as they are; else the text is one line."""
    if text.isascii() and text.isprintable():
        return text
    shown = _HIDDEN.sub(_escape, text)
    return shown if lines else shown.replace("\n", "\\n")


def json_spelled_out(text: bytes) -> bytes:
    """The same JSON: such characters stand in its strings only, which may escape any."""
    if text.isascii() and b"\x7f" not in text:
        return text
    return _HIDDEN.sub(_json_escape, text.decode("utf-8", "surrogatepass")).encode()


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _json_escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
