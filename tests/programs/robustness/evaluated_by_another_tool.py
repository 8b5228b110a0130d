"""Another tool sets its evaluation function while ours waits for code that never runs."""

import ctypes
import os
import sys

from stepscope.record import recording

tool = ctypes.PyDLL(sys.argv[1])


def work():
    return 1


def announce():
    """The recording's function is in place until this code runs, which it never does."""
    sys.audit("exec", compile("def f():\n    pass\n", os.path.abspath(__file__), "exec"))


announce()
tool.set_evaluator()
announce()
recording.stop()
print(bool(tool.evaluator_is_set()))
before = tool.evaluated_frames()
work()
print(tool.evaluated_frames() > before)
