"""Loops as training scripts have them; `turns` notes how often each body ran."""

turns = {}


def turn(name):
    turns[name] = turns.get(name, 0) + 1


def epochs():
    for epoch in range(3):
        turn("epochs.epoch")
        for batch in range(4):
            turn("epochs.batch")
            turn("epochs.work")
        if epoch == 1:
            continue
        for batch in range(2):
            turn("epochs.evaluate")


def until(n):
    while n > 0:
        turn("until")
        n -= 1
        if n == 2:
            continue
        if n == 100:
            break


def forever(n):
    while True:
        turn("forever.outer")
        while True:
            turn("forever.inner")
            n -= 1
            if n % 3 == 0:
                break
        if n <= 0:
            return


def loop_first(n):
    while True:
        for _ in range(2):
            turn("loop_first.inner")
        n -= 1
        turn("loop_first.outer")
        if n == 0:
            break


def retry(n):
    for attempt in range(5):
        try:
            turn("retry")
            if attempt < n:
                raise ValueError(attempt)
            break
        except ValueError:
            for _ in range(2):
                turn("retry.handler")
            continue
    while True:
        try:
            turn("retry.forever")
            n -= 1
            if n > 0:
                raise KeyError
            return n
        except KeyError:
            pass


def call_over_lines(n):
    while True:
        n = min(
            n,
            10,
        ) - 1
        turn("call_over_lines")
        if n <= 0:
            break


def condition_over_lines(n):
    while (
        n > 0
        and n != 50
    ):
        turn("condition_over_lines")
        n -= 1


def cleanup(n):
    try:
        for i in range(n):
            turn("cleanup.for")
            if i == 3:
                return i
    finally:
        for _ in range(2):
            turn("cleanup.finally")


def no_loops(values):
    squares = [v * v for v in values for _ in values if v]
    return {v: sum(x for x in squares) for v in values}


async def ticker(n):
    for i in range(n):
        turn("ticker")
        yield i


async def asynchronous():
    async for i in ticker(3):
        turn("asynchronous")
    return [i async for i in ticker(2)]


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass


epochs()
until(5)
forever(9)
loop_first(3)
retry(3)
call_over_lines(5)
condition_over_lines(4)
cleanup(6)
cleanup(2)
no_loops([1, 2, 3])
drive(asynchronous())
print(turns)
