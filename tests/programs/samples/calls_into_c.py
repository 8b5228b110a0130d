"""Long calls into C: asleep, computing without the GIL, computing with it."""

import hashlib
import json
import time
import zlib

BLOCK = bytes(range(256)) * 40_000
spent: dict[str, float] = {}


def asleep() -> None:
    time.sleep(0.3)


def hashing() -> None:  # gives up the GIL
    for _ in range(8):
        hashlib.sha256(BLOCK).digest()


def compressing() -> None:  # gives up the GIL
    zlib.compress(BLOCK[:4_000_000], 6)


def sorting() -> None:  # keeps it
    sorted(range(1_500_000), key=int.__neg__)


for _ in range(3):
    for function in (asleep, hashing, compressing, sorting):
        began = time.perf_counter()
        function()
        name = function.__name__
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - began
print(json.dumps(spent))
