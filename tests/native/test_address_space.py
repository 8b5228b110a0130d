"""Where the streams lie in memory: far from what the script and its libraries map."""

import ctypes

import pytest

from stepscope.native import _core

PROT_NONE, PRIVATE_ANONYMOUS_NORESERVE = 0, 0x4022
TERABYTE = 2**40


@pytest.fixture(scope="module")
def libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc


def test_terabytes_that_a_library_reserved_are_no_obstacle(libc: ctypes.CDLL) -> None:
    """As a sanitizer's allocator, or a driver for GPUs, does."""
    reserved = libc.mmap(None, 4 * TERABYTE, PROT_NONE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
    assert reserved != ctypes.c_void_p(-1).value
    taken = [libc.mmap(None, 4096, PROT_NONE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0) for _ in "12"]
    try:
        _core.storage_open(None, 2**24)
        _core.storage_close()
    finally:
        libc.munmap(reserved, 4 * TERABYTE)
        for page in taken:
            libc.munmap(page, 4096)


def test_places_of_closed_streams_serve_again() -> None:
    for _ in range(10_000):
        _core.storage_open(None, 2**20)
        _core.storage_close()
