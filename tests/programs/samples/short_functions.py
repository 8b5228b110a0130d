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
    """Seconds with a core: on a busy machine it lasts longer, and is seen as often."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for turn in range(100):
            cheap(turn)
            dear(turn)


alternate(3.0)
print(json.dumps({"cheap": measure(cheap, 20_000), "dear": measure(dear, 20_000)}))
