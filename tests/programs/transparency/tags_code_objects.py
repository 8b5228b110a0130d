"""Tags code objects through C's own interface for that: its free function is called for those alone."""

import ctypes
import sys

LATER = sys.version_info >= (3, 12)
REQUEST = "PyUnstable_Eval_RequestCodeExtraIndex" if LATER else "_PyEval_RequestCodeExtraIndex"
SET = "PyUnstable_Code_SetExtra" if LATER else "_PyCode_SetExtra"
GET = "PyUnstable_Code_GetExtra" if LATER else "_PyCode_GetExtra"
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

freed = []
free = FREE(freed.append)
request, tag, tag_of = (getattr(ctypes.pythonapi, name) for name in (REQUEST, SET, GET))
request.argtypes, request.restype = [FREE], ctypes.c_ssize_t
tag.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p]
tag_of.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.POINTER(ctypes.c_void_p)]
index = request(free)
print("index", index)

SOURCE = "def count(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"


def function(name):
    """Code of no file, which lives no longer than its function."""
    space = {}
    exec(compile(SOURCE, name, "exec"), space)
    return space.pop("count")  # no cycle


def value_of(code):
    value = ctypes.c_void_p()
    tag_of(code, index, value)
    return value.value


def main():
    kept = [function("<kept>"), main, value_of, function(__file__)]
    dropped = [function(f"<dropped {number}>") for number in range(3)]
    for each in (*kept[:1], *dropped):
        each(200_000)  # long enough to be looked at
    tag(dropped[1].__code__, index, 1234)
    print([value_of(each.__code__) for each in (*kept, *dropped)])
    del each, dropped
    print("freed", freed)
    tag(kept[0].__code__, index, 99)
    kept.clear()
    print("freed", freed)


main()
del free, FREE  # whoever calls it now ends the process with a signal
