"""A signal handler raises while the recording looks at new code, and the interpreter's queue of pending
calls has no room; says whether the script got what it raised."""

import ctypes
import os
import signal
import sys

HERE = os.path.abspath(__file__)
tool = ctypes.PyDLL(sys.argv[1])
tool.call_soon_with_full_queue.argtypes = [ctypes.py_object]
tool.call_soon_with_full_queue.restype = None


class Alarm(Exception):
    pass


def on_alarm(number, frame):
    raise Alarm


def run_new_code():
    tool.alarm_at(20)
    exec(compile("def made():\n    pass\n", HERE, "exec"), {})
    for _ in range(3):
        pass


signal.signal(signal.SIGALRM, on_alarm)
tool.set_evaluator(HERE.encode())
try:
    tool.call_soon_with_full_queue(run_new_code)
    for _ in range(3):
        pass
except Alarm:
    print("raised")
