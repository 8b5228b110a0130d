"""faulthandler: on request, and at a crash in C."""

import ctypes
import faulthandler
import os
import sys
import tempfile
import threading


def waiting(ready, done):
    ready.set()
    done.wait()


def dump(all_threads):
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=all_threads)
        file.seek(0)
        text = file.read().decode()
    lines = [line for line in text.splitlines() if "File" in line]
    print(all_threads, *lines, sep="\n")


ready, done = threading.Event(), threading.Event()
thread = threading.Thread(target=waiting, args=(ready, done))
thread.start()
ready.wait()
dump(False)
dump(True)
done.set()
thread.join()
print(faulthandler.is_enabled())
faulthandler.enable(all_threads=False)
sys.stdout.flush()


def crash():
    ctypes.string_at(0)


crash()
