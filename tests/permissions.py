"""File permissions that hold for root, too, so that a locked file can be tested by anyone."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

# From linux/capability.h, linux/prctl.h and linux/securebits.h.
_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1 << 1, 1 << 2  # read and write what the mode forbids
_GET_SECUREBITS, _SET_SECUREBITS = 27, 28
_NOROOT = 1 << 0  # programs that root starts get no capabilities

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


@contextmanager
def enforced() -> Iterator[None]:
    """Here, and in the programs that the test starts."""
    with ExitStack() as undo:
        if os.geteuid() == 0:
            try:
                undo.enter_context(_no_overriding_here())
                undo.enter_context(_no_capabilities_for_programs())
            except PermissionError as error:
                pytest.skip(f"root may do everything here and cannot give that up: {error}")
        yield


@contextmanager
def _no_overriding_here() -> Iterator[None]:
    header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
    _check(_libc.capget(ctypes.byref(header), sets))
    before = sets[0].effective
    sets[0].effective = before & ~(_DAC_OVERRIDE | _DAC_READ_SEARCH)
    _check(_libc.capset(ctypes.byref(header), sets))
    try:
        yield
    finally:
        sets[0].effective = before
        _check(_libc.capset(ctypes.byref(header), sets))


@contextmanager
def _no_capabilities_for_programs() -> Iterator[None]:
    before = _libc.prctl(_GET_SECUREBITS)
    _check(_libc.prctl(_SET_SECUREBITS, before | _NOROOT))
    try:
        yield
    finally:
        _check(_libc.prctl(_SET_SECUREBITS, before))


def _check(status: int) -> None:
    if status != 0:
        raise PermissionError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
