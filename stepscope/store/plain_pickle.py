"""Reads pickles of plain data, and nothing else: numbers, text, lists, tuples, dictionaries.
Objects of classes that the caller names become dictionaries of their attributes.

A pickle is a program for a small machine with a stack. This one has only the instructions that make
such data; what would import a name, call something or set an attribute ends the reading. Python's
own unpickler would look up the names, and takes as much memory as a damaged file asks for.
"""

import io
import pickle
import struct
from collections.abc import Callable, Set
from typing import Any, Final

from stepscope.errors import DataError

# Half a minute of the simplest ones: a file that asks for more would only keep us busy.
_MOST_INSTRUCTIONS: Final = 200_000_000
_KEYS: Final = (str, bytes, int, float, bool, type(None))
_MARK: Final = object()


class WantsMore(DataError):
    """The pickle does something that plain data does not need."""


class Named(str):
    """A class that the caller knows, by its name: nothing is imported."""


Class = tuple[str, str]  # module, name


def read_plain_pickle(content: bytes, name: str, known: Set[Class] = frozenset()) -> Any:
    """Raises DataError if it is damaged, WantsMore if it is no plain data. Objects of `known`
    classes become dictionaries."""
    try:
        return _Machine(content, known).run()
    except WantsMore as error:
        raise WantsMore(f"'{name}' is refused: {error}") from None
    except (IndexError, KeyError, ValueError, TypeError, struct.error, AttributeError) as error:
        raise DataError(f"'{name}' is damaged: it is no whole pickle of plain data.") from error


class _Machine:
    def __init__(self, content: bytes, known: Set[Class]) -> None:
        self._known = known
        self._file = io.BytesIO(content)
        self._size = len(content)
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        read, handlers = self._file.read, _HANDLERS
        for _ in range(_MOST_INSTRUCTIONS):
            code = read(1)
            if code == pickle.STOP:
                return self._stack.pop()
            handler = handlers.get(code) or (self._known and _OF_OBJECTS.get(code))
            if not handler:
                raise self._unknown(code)
            handler(self)
        raise WantsMore(f"it has more than {_MOST_INSTRUCTIONS:,} instructions.")

    def _unknown(self, code: bytes) -> Exception:
        if not code:
            return ValueError("cut off")
        if code in _RUNS_CODE:
            return _refused(_RUNS_CODE[code])
        return ValueError("no instruction of a pickle")

    # --- what it reads ---

    def bytes_of(self, size: int) -> bytes:
        if size < 0 or size > self._size:
            raise ValueError("longer than the file")
        found = self._file.read(size)
        if len(found) < size:
            raise ValueError("cut off")
        return found

    def number(self, layout: str) -> Any:
        return struct.unpack(layout, self.bytes_of(struct.calcsize(layout)))[0]

    def line(self) -> str:
        return self._file.readline().rstrip(b"\n").decode("raw-unicode-escape")

    # --- what it does ---

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("nothing there")
        return value

    def top(self, kind: type) -> Any:
        value = self._stack[-1]
        if not isinstance(value, kind):
            raise TypeError("not of that kind")
        return value

    def since_mark(self) -> list[Any]:
        at = len(self._stack) - 1
        while self._stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("no mark")
        found = self._stack[at + 1 :]
        del self._stack[at:]
        return found

    def last(self, count: int) -> tuple[Any, ...]:
        found = [self.pop() for _ in range(count)]
        return tuple(reversed(found))

    def put(self, number: int) -> None:
        self._memo[number] = self._stack[-1]

    def put_next(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def get(self, number: int) -> None:
        self._stack.append(self._memo[number])

    def find(self, module: Any, name: Any) -> None:
        if (module, name) not in self._known:
            raise _refused(f"import {module}.{name}")
        self.push(Named(name))

    def make(self) -> None:
        """Of what was called with whatever: only known classes can be on the stack."""
        made, _ = self.last(2)
        if not isinstance(made, Named):
            raise _refused("call something")
        self.push({})

    def set_items(self, items: list[Any]) -> None:
        into = self.top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            into[_as_key(key)] = value


def _refused(wish: str) -> WantsMore:
    return WantsMore(f"it is a pickle that wants to {wish}. Only plain data is read.")


def _as_key(key: Any) -> Any:
    """Flat: to hash what is nested without end ends the process."""
    if isinstance(key, tuple) and all(isinstance(each, _KEYS) for each in key):
        return key
    if not isinstance(key, _KEYS):
        raise TypeError("no key")
    return key


def _as_dict(items: list[Any]) -> dict[Any, Any]:
    return {_as_key(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _as_state(state: Any) -> dict[str, Any]:
    """Some pickles have None beside the attributes: for those in slots."""
    found = state[0] if isinstance(state, tuple) and len(state) == 2 else state
    if not isinstance(found, dict):
        raise TypeError("no attributes")
    return found


def _integer(text: str) -> Any:
    return {"00": False, "01": True}[text] if text in ("00", "01") else int(text.rstrip("L"))


def _whole(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


_Step = Callable[[_Machine], Any]
_HANDLERS: Final[dict[bytes, _Step]] = {
    pickle.PROTO: lambda m: m.bytes_of(1),
    pickle.FRAME: lambda m: m.bytes_of(8),
    pickle.MARK: lambda m: m.push(_MARK),
    pickle.POP: lambda m: m.pop(),
    pickle.POP_MARK: lambda m: m.since_mark(),
    pickle.DUP: lambda m: m.push(m.top(object)),
    pickle.NONE: lambda m: m.push(None),
    pickle.NEWTRUE: lambda m: m.push(True),
    pickle.NEWFALSE: lambda m: m.push(False),
    pickle.INT: lambda m: m.push(_integer(m.line())),
    pickle.LONG: lambda m: m.push(_integer(m.line())),
    pickle.LONG1: lambda m: m.push(_whole(m.bytes_of(m.number("<B")))),
    pickle.LONG4: lambda m: m.push(_whole(m.bytes_of(m.number("<i")))),
    pickle.BININT: lambda m: m.push(m.number("<i")),
    pickle.BININT1: lambda m: m.push(m.number("<B")),
    pickle.BININT2: lambda m: m.push(m.number("<H")),
    pickle.FLOAT: lambda m: m.push(float(m.line())),
    pickle.BINFLOAT: lambda m: m.push(m.number(">d")),
    pickle.UNICODE: lambda m: m.push(m.line()),
    pickle.BINSTRING: lambda m: m.push(m.bytes_of(m.number("<i")).decode("latin-1")),
    pickle.SHORT_BINSTRING: lambda m: m.push(m.bytes_of(m.number("<B")).decode("latin-1")),
    pickle.SHORT_BINUNICODE: lambda m: m.push(_text(m.bytes_of(m.number("<B")))),
    pickle.BINUNICODE: lambda m: m.push(_text(m.bytes_of(m.number("<I")))),
    pickle.BINUNICODE8: lambda m: m.push(_text(m.bytes_of(m.number("<Q")))),
    pickle.SHORT_BINBYTES: lambda m: m.push(m.bytes_of(m.number("<B"))),
    pickle.BINBYTES: lambda m: m.push(m.bytes_of(m.number("<I"))),
    pickle.BINBYTES8: lambda m: m.push(m.bytes_of(m.number("<Q"))),
    pickle.EMPTY_LIST: lambda m: m.push([]),
    pickle.LIST: lambda m: m.push(m.since_mark()),
    pickle.APPEND: lambda m: (lambda value: m.top(list).append(value))(m.pop()),
    pickle.APPENDS: lambda m: (lambda values: m.top(list).extend(values))(m.since_mark()),
    pickle.EMPTY_TUPLE: lambda m: m.push(()),
    pickle.TUPLE: lambda m: m.push(tuple(m.since_mark())),
    pickle.TUPLE1: lambda m: m.push(m.last(1)),
    pickle.TUPLE2: lambda m: m.push(m.last(2)),
    pickle.TUPLE3: lambda m: m.push(m.last(3)),
    pickle.EMPTY_DICT: lambda m: m.push({}),
    pickle.DICT: lambda m: m.push(_as_dict(m.since_mark())),
    pickle.SETITEM: lambda m: m.set_items(list(m.last(2))),
    pickle.SETITEMS: lambda m: m.set_items(m.since_mark()),
    pickle.GET: lambda m: m.get(int(m.line())),
    pickle.BINGET: lambda m: m.get(m.number("<B")),
    pickle.LONG_BINGET: lambda m: m.get(m.number("<I")),
    pickle.PUT: lambda m: m.put(int(m.line())),
    pickle.BINPUT: lambda m: m.put(m.number("<B")),
    pickle.LONG_BINPUT: lambda m: m.put(m.number("<I")),
    pickle.MEMOIZE: lambda m: m.put_next(),
}
_OF_OBJECTS: Final[dict[bytes, _Step]] = {
    pickle.GLOBAL: lambda m: m.find(m.line(), m.line()),
    pickle.STACK_GLOBAL: lambda m: m.find(*m.last(2)),
    pickle.NEWOBJ: lambda m: m.make(),
    pickle.REDUCE: lambda m: m.make(),
    pickle.BUILD: lambda m: (lambda state: m.top(dict).update(_as_state(state)))(m.pop()),
}
_IMPORT, _CALL = "import a name of a module", "call something"
_RUNS_CODE: Final = {
    pickle.GLOBAL: _IMPORT,
    pickle.STACK_GLOBAL: _IMPORT,
    pickle.INST: _IMPORT,
    pickle.EXT1: _IMPORT,
    pickle.EXT2: _IMPORT,
    pickle.EXT4: _IMPORT,
    pickle.REDUCE: _CALL,
    pickle.OBJ: _CALL,
    pickle.NEWOBJ: _CALL,
    pickle.NEWOBJ_EX: _CALL,
    pickle.BUILD: "set the attributes of an object",
    pickle.PERSID: "load an object from elsewhere",
    pickle.BINPERSID: "load an object from elsewhere",
}
