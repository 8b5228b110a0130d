"""The script's code inside wrappers of ours, and library code inside the script's."""

import json
import time

import stepscope


@stepscope.region("encode")
def encode(seconds: float) -> None:
    end = time.perf_counter() + seconds
    rows = [{"a": list(range(50)), "b": "text" * 20}] * 40
    while time.perf_counter() < end:
        json.dumps(rows, indent=1)


def batches():
    for _ in range(5):
        time.sleep(0.05)
        yield 0.1


for seconds in stepscope.steps(batches()):
    encode(seconds)
print("done")
