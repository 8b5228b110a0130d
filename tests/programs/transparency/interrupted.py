"""Ctrl-C in the middle of a loop; a `finally` says so, then the traceback."""

import os
import signal


def loop():
    total = 0
    try:
        while True:
            total += 1
            if total == 1000:
                os.kill(os.getpid(), signal.SIGINT)
    finally:
        print("finally")


try:
    loop()
except KeyboardInterrupt:
    print("caught")
loop()
