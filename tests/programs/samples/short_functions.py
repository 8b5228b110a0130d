"""Two short functions without a loop or a call, in which the interpreter never gives up the GIL."""

import json
import time


def cheap(x: int) -> int:
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    return x


def dear(x: int) -> int:
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    x = x * 3 + 1 & 65535
    return x


def measure(function, turns: int) -> float:
    began = time.perf_counter()
    for turn in range(turns):
        function(turn)
    return time.perf_counter() - began


def alternate(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for turn in range(100):
            cheap(turn)
            dear(turn)


alternate(4.0)
print(json.dumps({"cheap": measure(cheap, 20_000), "dear": measure(dear, 20_000)}))
