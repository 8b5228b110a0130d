"""Threads by the thousand and code objects by the ten thousand; says what it holds on to: JSON."""

import gc
import json
import os
import sys
import threading


def held():
    gc.collect()
    with open("/proc/self/statm") as statm:
        resident_bytes = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return {"resident_bytes": resident_bytes, "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task"))}


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def threads(count):
    for _ in range(count):
        thread = threading.Thread(target=work, args=(20,))
        thread.start()
        thread.join()


def same_code_again(count):
    for _ in range(count):
        exec(compile("def made(n):\n    return n\nmade(1)\n", __file__, "exec"), {})


def codes(count):
    space = {}
    for i in range(count):
        exec(compile(f"def made_{i}(n):\n    for j in range(n):\n        n += j\n    return n\n",
                     __file__, "exec"), space)
    return sum(space[f"made_{i}"](2) for i in range(count))


count = int(sys.argv[1])
threads(count // 4)
same_code_again(count // 4)
before = held()
threads(count)
same_code_again(count)
after = held()
print(json.dumps({"before": before, "after": after, "codes": codes(count * 5)}))
