"""Defines as many functions as it is told, runs each of them, and says how much memory that took."""

import json
import sys

from marks_many_steps import memory_bytes

FUNCTION = "def f_{0}(x):\n    y = x + {0}\n    return y\n\n"


def main(count):
    with open("functions.py", "w") as file:
        file.writelines(FUNCTION.format(number) for number in range(count))
    sys.path.insert(0, "")
    before = memory_bytes()
    import functions

    total = sum(vars(functions)[f"f_{number}"](1) for number in range(count))
    print(json.dumps([total, before, memory_bytes()]))


main(int(sys.argv[1]))
