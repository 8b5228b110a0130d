"""Names of functions for calls and samples: one entry for each in names.jsonl."""

import functools
import os
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, ModuleType

from stepscope.record.names import our_package
from stepscope.store.writer import Names
from stepscope.typed import Any, Final

OURS: Final = our_package.FOLDER + os.sep
OUR_EXTENSION: Final = "stepscope.native._core"
NATIVE_FILE: Final = "~"  # where pstats says that a function is written in C


def namer(names: Names) -> Callable[[CodeType | BuiltinFunctionType], int]:
    """on_function for the native core: the id of a function's entry, 0 for our own."""
    folder = os.getcwd()  # for relative paths, even after a chdir
    known: dict[tuple[object, ...], int] = {}

    def name(function: CodeType | BuiltinFunctionType) -> int:
        if isinstance(function, CodeType):
            return _name_code(names, folder, function, known)
        if function.__module__ == OUR_EXTENSION:
            return 0
        return names.intern(
            "function", file=NATIVE_FILE, line=0, name=builtin_label(function), native=True
        )

    return name


def _name_code(
    names: Names, folder: str, code: CodeType, known: dict[tuple[object, ...], int]
) -> int:
    """The same source compiled again is the same function. Two generator expressions or lambdas on
    one line are not: one that calls the other is not a recursion."""
    path = absolute_path(code.co_filename, folder)
    if path.startswith(OURS):
        return 0
    place = path, code.co_firstlineno, code.co_qualname
    key = (*place, hash(code.co_code), hash(code.co_linetable))
    number = known.get(key, 0)
    if not number:
        file, line, name = place
        number = names.add("function", file=file, line=line, name=name, native=False)
        known[key] = number
    return number


@functools.lru_cache(maxsize=256)  # functions of one file come together
def absolute_path(filename: str, folder: str) -> str:
    """`<string>` and similar names stay as they are."""
    if filename.startswith("<"):
        return filename
    return os.path.normpath(os.path.join(folder, filename))


def builtin_label(function: Any) -> str:
    """As pstats labels it: `<method 'append' of 'list' objects>`, `<built-in method time.sleep>`.
    Attributes are looked up without running any of the script's code."""
    owner: Any = function.__self__
    if not isinstance(owner, ModuleType):
        for kind in type(owner).__mro__:
            if function.__name__ in vars(kind):
                return _repr_of(vars(kind)[function.__name__], function)
    module = function.__module__
    if isinstance(owner, ModuleType | None) and isinstance(module, str):
        return f"<built-in method {module}.{function.__name__}>"
    return f"<built-in method {function.__name__}>"


def _repr_of(method: Any, function: BuiltinFunctionType) -> str:
    """Only the interpreter's own method types have a repr that runs none of the script's code."""
    if type(method).__module__ == "builtins":
        return repr(method)
    return f"<built-in method {function.__name__}>"
