"""The main thread waits; two others work and sleep."""

import json
import threading
import time

spent: dict[str, float] = {}


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def working() -> None:
    spin(1.0)


def sleeping() -> None:
    time.sleep(1.2)


def timed(function) -> None:
    began = time.perf_counter()
    function()
    spent[function.__name__] = time.perf_counter() - began


def waiting() -> None:
    for thread in threads:
        thread.join()


threads = [
    threading.Thread(target=timed, args=(working,), name="works"),
    threading.Thread(target=timed, args=(sleeping,), name="sleeps"),
]
for thread in threads:
    thread.start()
timed(waiting)
print(json.dumps(spent))
