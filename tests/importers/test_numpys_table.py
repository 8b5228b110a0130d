"""Arrays move to disk only with a NumPy whose table of functions is the one that we know: with
another one they stay in memory, and nothing of it is called."""

import ctypes
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.importers.large_arrays import on_disk

ABI_1, ABI_2, API_1_22 = 0x01000009, 0x02000000, 0xF
MIB = 2**20
Version = ctypes.CFUNCTYPE(ctypes.c_uint)
SetHandler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)  # NULL: its own again
GetHandler = ctypes.PYFUNCTYPE(ctypes.py_object)


class Table:
    """NumPy's, with functions at the places that are asked that only note it."""

    def __init__(self) -> None:
        self.given: list[int | None] = []  # addresses
        self._kept: list[object] = []  # as long as C may call them
        self.places = (ctypes.c_void_p * 320)()
        self.put(0, Version(lambda: ABI_2))
        self.put(211, Version(lambda: API_1_22))
        self.put(304, SetHandler(self._set))
        self.put(305, GetHandler(self._get))

    def put(self, place: int, function: Any) -> None:
        self._kept.append(function)
        self.places[place] = ctypes.cast(function, ctypes.c_void_p)

    def _set(self, handler: int | None) -> object:
        self.given.append(handler)
        return "the one before"

    def _get(self) -> object:
        address = self.given[-1]
        return "its own" if address is None else ctypes.cast(address, ctypes.py_object).value


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Table:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = Table()
    core = "numpy._core" if int(np.__version__.partition(".")[0]) >= 2 else "numpy.core"
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    numpy = importlib.import_module(f"{core}._multiarray_umath")
    monkeypatch.setattr(numpy, "_ARRAY_API", capsule(made.places, None, None))
    return made


@pytest.mark.parametrize("abi", [ABI_1, ABI_2])
def test_with_a_table_that_we_know_the_handler_is_ours(abi: int, table: Table) -> None:
    table.put(0, Version(lambda: abi))
    with on_disk(MIB, MIB) as is_possible:
        assert is_possible
        assert len(table.given) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.put(0, Version(lambda: 0x03000000)),
        lambda table: table.put(0, None),
        lambda table: table.put(211, Version(lambda: API_1_22 - 1)),
        lambda table: table.put(304, None),
        lambda table: table.put(305, None),
    ],
    ids=["a new ABI", "no version", "before 1.22", "no handlers", "no way to ask"],
)
def test_with_another_one_nothing_is_called(change: Callable[[Table], None], table: Table) -> None:
    change(table)
    with on_disk(MIB, MIB) as is_possible:
        assert not is_possible
        assert [int(np.full(MIB, 3, np.int8).sum()) for _ in range(4)] == [3 * MIB] * 4
    assert table.given == []


def test_what_numpy_does_not_say_it_uses_is_not_used(table: Table) -> None:
    table.put(305, GetHandler(lambda: "its own"))
    with on_disk(MIB, MIB) as is_possible:
        assert not is_possible


def test_a_numpy_without_a_table_keeps_its_arrays(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = "numpy._core" if int(np.__version__.partition(".")[0]) >= 2 else "numpy.core"
    for found in (object(), None):
        monkeypatch.setattr(f"{core}._multiarray_umath._ARRAY_API", found)
        with on_disk(MIB, MIB) as is_possible:
            assert not is_possible
