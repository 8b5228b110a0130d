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


def alternate(rounds: int) -> None:
    """Without a look at the clock: at system calls, a busy machine takes the core away."""
    for _ in range(rounds):
        for turn in range(100):
            cheap(turn)
            dear(turn)


def rounds_in(seconds: float) -> int:
    """With a core: on a busy machine they last longer, and are seen as often."""
    began = time.thread_time()
    alternate(50)
    return int(50 * seconds / (time.thread_time() - began))


alternate(rounds_in(3.0))
print(json.dumps({"cheap": measure(cheap, 20_000), "dear": measure(dear, 20_000)}))
