"""Ends in the way its argument names."""

import os
import signal
import sys

how = sys.argv[1]
if how.isdigit():
    sys.exit(int(how))
if how == "text":
    sys.exit("the reason")
if how == "exception":
    raise ValueError("broken")
if how == "_exit":
    os._exit(9)
if how == "interrupt":
    raise KeyboardInterrupt
os.kill(os.getpid(), getattr(signal, how))
