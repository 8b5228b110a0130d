"""Python 3.11: anything that reads code objects gets the one without ticks.

So pickles, fingerprints and compilers see what they would see without recording. From 3.12 on code
carries no ticks, and nothing here does anything.
"""

import copy
import functools
import marshal
import sys
from collections.abc import Callable, MutableMapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

OriginalCode = Callable[[CodeType], CodeType]

_HAS_TICKS: Final = sys.version_info < (3, 12)
_CLOUDPICKLES: Final = (
    "cloudpickle.cloudpickle",
    "joblib.externals.cloudpickle.cloudpickle",
    "numba.cloudpickle.cloudpickle",
    "pyspark.cloudpickle.cloudpickle",
    "ray.cloudpickle.cloudpickle",
)
_original: OriginalCode | None = None
_patched: set[str] = set()
_undo: list[Callable[[], None]] = []


def install(original_code: OriginalCode) -> None:
    """From now on `original_code` is used; patches what is imported already."""
    global _original
    if not _HAS_TICKS:
        return
    _original = original_code
    for name in ("marshal", *WATCHED):
        patch(name)


def patch(name: str) -> None:
    """Call this when the module `name` has been imported; repeated or early calls do nothing."""
    module = sys.modules.get(name)
    reader = _READERS.get(name)
    if _original is None or module is None or reader is None or name in _patched:
        return
    _patched.add(name)
    reader(module)


def uninstall() -> None:
    global _original
    while _undo:
        _undo.pop()()
    _patched.clear()
    _original = None  # a copy of a patch made meanwhile does nothing any more


def _plain(code: Any) -> Any:
    if _original is not None and isinstance(code, CodeType):
        return _original(code)
    return code


# --- how patches are made -------------------------------------------------------------------------


def _set(owner: Any, name: str, value: Any) -> None:
    before = vars(owner)[name]
    setattr(owner, name, value)
    _undo.append(lambda: setattr(owner, name, before))


def _set_item(table: MutableMapping[Any, Any], key: object, value: Any) -> None:
    before = table[key]
    table[key] = value

    def undo() -> None:
        table[key] = before

    _undo.append(undo)


def _first_argument_plain(owner: Any, name: str) -> None:
    """Wrap `owner.name` so that its first argument is code without ticks."""
    function = vars(owner).get(name)
    if function is None:
        return

    @functools.wraps(function)
    def wrapper(code: Any, *args: Any, **kwargs: Any) -> Any:
        return function(_plain(code), *args, **kwargs)

    _set(owner, name, wrapper)


# --- the readers ----------------------------------------------------------------------------------


def _patch_marshal(module: ModuleType) -> None:
    dumps, dump = marshal.dumps, marshal.dump

    @functools.wraps(dumps)
    def plain_dumps(value: Any, *args: Any) -> bytes:
        return dumps(_plain_inside(value), *args)

    @functools.wraps(dump)
    def plain_dump(value: Any, file: Any, *args: Any) -> Any:
        return dump(_plain_inside(value), file, *args)

    _set(module, "dumps", plain_dumps)
    _set(module, "dump", plain_dump)


def _plain_inside(value: Any) -> Any:
    """Containers are copied only if they hold code with ticks."""
    if isinstance(value, CodeType):
        return _plain(value)
    if type(value) in (tuple, list):
        items = [_plain_inside(item) for item in value]
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return type(value)(items) if changed else value
    if type(value) is dict:
        fields = {key: _plain_inside(item) for key, item in value.items()}
        return fields if any(fields[key] is not value[key] for key in value) else value
    return value


def _patch_cloudpickle(module: ModuleType) -> None:
    _first_argument_plain(module, "_extract_code_globals")
    table = getattr(getattr(module, "Pickler", None), "_dispatch_table", None)
    if not isinstance(table, dict) or CodeType not in table:
        return
    reduce = table[CodeType]
    _set_item(table, CodeType, functools.wraps(reduce)(lambda code: reduce(_plain(code))))


def _patch_dill(module: ModuleType) -> None:
    table = getattr(getattr(module, "Pickler", None), "dispatch", None)
    if not isinstance(table, dict) or CodeType not in table:
        return
    save_code = table[CodeType]

    @functools.wraps(save_code)
    def save_plain(pickler: Any, code: CodeType) -> None:
        plain = _plain(code)
        if plain is code:
            save_code(pickler, code)
        else:
            pickler.save(plain)  # which looks it up: two functions may share their code

    _set_item(table, CodeType, save_plain)


def _patch_numba_bytecode(module: ModuleType) -> None:
    get_code_object = vars(module).get("get_code_object")
    if get_code_object is None:
        return

    @functools.wraps(get_code_object)
    def plain_code_object(function: Any) -> Any:
        return _plain(get_code_object(function))

    _set(module, "get_code_object", plain_code_object)


def _patch_numba_caching(module: ModuleType) -> None:
    """The key of numba's cache on disk holds a hash of the bytecode."""
    cache = getattr(module, "Cache", None)
    index_key = getattr(cache, "_index_key", None)
    if index_key is None:
        return

    @functools.wraps(index_key)
    def plain_index_key(self: Any, *args: Any, **kwargs: Any) -> Any:
        function = getattr(self, "_py_func", None)
        if isinstance(function, FunctionType):
            self = copy.copy(self)
            self._py_func = FunctionType(
                _plain(function.__code__),
                function.__globals__,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
        return index_key(self, *args, **kwargs)

    _set(cache, "_index_key", plain_index_key)


def _patch_dynamo(module: ModuleType) -> None:
    """torch.compile takes the instructions from here; the name is imported into other modules."""
    _first_argument_plain(module, "cleaned_instructions")


_READERS: Final[dict[str, Callable[[ModuleType], None]]] = {
    "marshal": _patch_marshal,
    "dill._dill": _patch_dill,
    "numba.core.bytecode": _patch_numba_bytecode,
    "numba.core.caching": _patch_numba_caching,
    "torch._dynamo.bytecode_transformation": _patch_dynamo,
    "torch._dynamo.symbolic_convert": _patch_dynamo,
    **dict.fromkeys(_CLOUDPICKLES, _patch_cloudpickle),
}
WATCHED: Final = frozenset(_READERS) - {"marshal"} if _HAS_TICKS else frozenset[str]()
