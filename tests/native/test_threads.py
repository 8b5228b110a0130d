"""What the core keeps for each thread."""

import subprocess
import sys

# `pthread_getspecific(0)` belongs to whoever made the first key of the process.
WITHOUT_KEYS = """
import ctypes
from stepscope.native import _core
libc, key = ctypes.CDLL(None), ctypes.c_uint()
libc.pthread_getspecific.restype = ctypes.c_void_p
while libc.pthread_key_create(ctypes.byref(key), None) == 0:
    pass
before = libc.pthread_getspecific(0)
_core.storage_open(None, 2**22)
assert _core.span_begin(1, 1)
print(libc.pthread_getspecific(0) == before)
"""


def test_a_process_without_thread_keys_left_keeps_those_of_others() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_KEYS], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "True\n", done.stderr
