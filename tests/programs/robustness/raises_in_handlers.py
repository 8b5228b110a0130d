"""Signals that arrive while the recording is at work, most of the time: each handler raises."""

import os
import signal
import sys
import traceback

HERE = os.path.abspath(__file__)
SOURCE = "def made():\n" + "".join(f"    x = {line}\n" for line in range(300))


class Alarm(Exception):
    pass


def on_alarm(number, frame):
    raise Alarm


def leave(number, frame):
    sys.exit(7)


def run_new_code():
    """What the recording does with new code takes longer than running it."""
    while True:
        exec(compile(SOURCE, HERE, "exec"), {})


def files_until_alarm():
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        run_new_code()
    except Alarm as error:
        frames = traceback.extract_tb(error.__traceback__)
        assert frames[-1].name == "on_alarm", frames
        return {frame.filename for frame in frames}


signal.signal(signal.SIGALRM, on_alarm)
print(set.union(*(files_until_alarm() for _ in range(50))) == {HERE})
signal.signal(signal.SIGALRM, leave)
signal.setitimer(signal.ITIMER_REAL, 0.002)
run_new_code()
