"""Threads that start and end by the thousand, some of them while all others wait."""

import threading
import time

gate = threading.Event()


def brief() -> None:
    sum(range(1000))


def patient() -> None:
    gate.wait()


waiting = [threading.Thread(target=patient) for _ in range(300)]
for thread in waiting:
    thread.start()
for _ in range(20):
    threads = [threading.Thread(target=brief) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
time.sleep(0.3)
gate.set()
for thread in waiting:
    thread.join()
print("done")
