"""Threads that run the same lines; says how often each ran, counted by the program: JSON."""

import json
import sys
import threading

THREADS, TURNS = 8, 5_000
lock = threading.Lock()
counts = {}


def leaf(i):
    if i % 3:
        return i
    return -i


def work(turns):
    mine = 0
    for i in range(turns):
        mine += leaf(i) > 0
    with lock:
        counts["positive"] = counts.get("positive", 0) + mine


def generator(turns):
    for i in range(turns):
        yield i


def consume(turns):
    for i in generator(turns):
        leaf(i)


sys.setswitchinterval(1e-4)
threads = [
    threading.Thread(target=target, args=(TURNS,))
    for target in (work, consume)
    for _ in range(THREADS // 2)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
first = {function.__name__: function.__code__.co_firstlineno for function in
         (leaf, work, generator, consume)}
half, third = THREADS // 2, (TURNS + 2) // 3
print(json.dumps({
    first["leaf"] + 1: THREADS * TURNS,
    first["leaf"] + 2: THREADS * (TURNS - third),
    first["leaf"] + 3: THREADS * third,
    first["work"] + 1: half,
    first["work"] + 2: half * (TURNS + 1),
    first["work"] + 3: half * TURNS,
    first["generator"] + 1: half * (TURNS + 1),
    first["generator"] + 2: half * TURNS,
    first["consume"] + 1: half * (TURNS + 1),
    first["consume"] + 2: half * TURNS,
}))
