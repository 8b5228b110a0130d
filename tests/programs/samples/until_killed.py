"""Works until somebody kills it; says when it has begun."""

import itertools


def work() -> None:
    for turn in itertools.count():
        if turn == 3_000_000:
            print("working", flush=True)


work()
