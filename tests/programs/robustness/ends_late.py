"""A thread that runs Python as it ends, after other libraries' destructors: as C++ extensions do."""

import ctypes
import threading

import stepscope

DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
libc = ctypes.CDLL(None)
libc.pthread_setspecific.argtypes = (ctypes.c_uint, ctypes.c_void_p)


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def in_another_thread():
    other = threading.Thread(target=work, args=(10,))
    other.start()
    other.join()


@DESTRUCTOR
def at_the_end(_value):
    work(10)
    in_another_thread()  # whose record may take the place of ours
    late.append(work(10))


def first():
    work(10)
    libc.pthread_setspecific(key, 1)


late = []
in_another_thread()  # the recording's own destructors come before those that are made later
key = ctypes.c_uint()
assert libc.pthread_key_create(ctypes.byref(key), at_the_end) == 0
for step in range(20):
    thread = threading.Thread(target=first)
    thread.start()
    thread.join()
    stepscope.step()
while len(late) < 20:  # join() returns before the destructors run
    work(10)
print(late)
