"""Three functions that take 20, 30 and 50 % of the time; says how long each took."""

import json
import time

spent: dict[str, float] = {}


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def twenty() -> None:
    spin(0.02)


def thirty() -> None:
    spin(0.03)


def fifty() -> None:
    spin(0.05)


for _ in range(20):
    for function in (twenty, thirty, fifty):
        began = time.perf_counter()
        function()
        name = function.__name__
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - began
print(json.dumps(spent))
