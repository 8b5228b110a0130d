"""Gives up the GIL for moments, over and over, and then once for long, as logging beside a model's
computation does: whoever waits for the GIL gets it only then."""

import hashlib
import json
import os
import time

BLOCK = bytes(range(256)) * 40_000
spent: dict[str, float] = {}
nowhere = os.open(os.devnull, os.O_WRONLY)


def writing() -> None:
    until = time.perf_counter() + 0.03
    while time.perf_counter() < until:
        os.write(nowhere, b"a line")


def computing() -> None:
    hashlib.sha256(BLOCK).digest()


for _ in range(60):
    for function in (writing, computing):
        began = time.perf_counter()
        function()
        name = function.__name__
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - began
print(json.dumps(spent))
