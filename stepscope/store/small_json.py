"""JSON for what every recorded process reads and writes: `json` takes 4 ms there, with all that it
imports. Small objects only; `json` reads and explains what cannot be read here."""

from _json import encode_basestring_ascii, make_scanner

from stepscope.typed import Any


class _Plain:
    """What the scanner asks about: everything as `json.loads` does it by default."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


_scan = make_scanner(_Plain)  # type: ignore[arg-type]  # any object with these will do


def read(content: bytes) -> Any:
    try:
        text = content.decode().strip()
        value, end = _scan(text, 0)
        if end == len(text):
            return value
    except (StopIteration, ValueError, SystemError):  # the last: its error is in json, not loaded
        pass
    import json

    return json.loads(content)


def write(value: Any, *, in_lines: bool = False) -> bytes:
    """`in_lines`: a field of the object in each line."""
    if in_lines:
        inside = ",\n ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items())
        return f"{{\n {inside}\n}}".encode()
    return _text(value).encode()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(encode_basestring_ascii(_readable(value)))
    if value is None or value is True or value is False:
        return _CONSTANTS[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items())
        return f"{{{inside}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    raise TypeError(f"{value!r} is not written as JSON")


_CONSTANTS = {None: "null", True: "true", False: "false"}


def _number(value: float) -> str:
    """As `json` writes it; only there do these three have names."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return float.__repr__(value)


def _readable(text: str) -> str:
    """File names and arguments may contain bytes that are not UTF-8: JSON cannot hold those, so
    they are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
