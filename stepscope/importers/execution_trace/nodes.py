"""The operators of an Execution Trace, old or new, in the words of torch.profiler's JSON."""

from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.errors import DataError
from stepscope.importers.trace import LentShapes, NamedShapes, Shapes
from stepscope.importers.unzip import read_whole

_RECORD: Final = "rf_id"
_WORDS: Final = {
    "None": "", "Int": "Scalar", "Double": "Scalar", "Float": "Scalar", "Bool": "Scalar",
    "Device": "", "String": "",
}  # fmt: skip


class _Node(msgspec.Struct):
    name: Any = ""
    attrs: Any = None  # from schema 1.0.2 on
    inputs: Any = None  # before: a list of values
    rf_id: Any = None
    input_shapes: Any = None
    input_types: Any = None


class _File(msgspec.Struct):
    nodes: list[_Node] = []
    pid: Any = None


def read_operators(path: Path) -> LentShapes:
    text, _ = read_whole(path)
    try:
        file = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"'{path}' is a damaged Execution Trace: {error}.") from error
    found = {}
    for node in file.nodes:
        record, shapes = _record(node), _shapes(node)
        if record is not None and shapes is not None and isinstance(node.name, str):
            found[record] = NamedShapes(node.name, shapes)
    return LentShapes(file.pid if isinstance(file.pid, int) else None, found)


def _record(node: _Node) -> int | None:
    attrs = node.attrs if isinstance(node.attrs, list) else []
    of_attrs = [each.get("value") for each in attrs if _is_record(each)]
    number = (of_attrs or [node.rf_id])[0]
    return number if isinstance(number, int) and number > 0 else None


def _is_record(attribute: Any) -> bool:
    return isinstance(attribute, dict) and attribute.get("name") == _RECORD


def _shapes(node: _Node) -> Shapes | None:
    """None: it has no inputs, as a named range."""
    inputs = node.inputs
    if isinstance(inputs, dict):
        shapes, types, values = (inputs.get(key) for key in ("shapes", "types", "values"))
    else:
        shapes, types, values = node.input_shapes, node.input_types, inputs
    if not (isinstance(shapes, list) and isinstance(types, list) and shapes):
        return None
    words = [_type(each) for each in types]
    concrete = _concrete(values, words) if "conv" in str(node.name) else ""
    dims = [_dims(each, word) for each, word in zip(shapes, words, strict=False)]
    return Shapes(_json(dims), _json(words), concrete)


def _type(given: Any) -> str:
    """`float` of "Tensor(float)", "ScalarList" of "GenericList[Int,Int]"."""
    text = str(given)
    if text.startswith("Tensor("):
        return text[len("Tensor(") :].rstrip(")")
    if text.startswith("GenericList["):
        return "TensorList" if "Tensor(" in text else "ScalarList"
    return _WORDS.get(text, text)


def _dims(shape: Any, word: str) -> Any:
    """A list of numbers has no shape, though its elements have one each."""
    return [] if word == "ScalarList" else shape


def _concrete(values: Any, words: list[str]) -> str:
    """What is no tensor, as text."""
    if not isinstance(values, list):
        return ""
    return _json([
        str(value) if word in ("Scalar", "ScalarList") else ""
        for value, word in zip(values, words, strict=False)
    ])  # fmt: skip


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
