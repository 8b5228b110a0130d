"""Frames that stop and go on: generators, send, throw, close, coroutines, asynchronous generators."""

import asyncio
import contextlib


def numbers(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                yield -got
    except ValueError:
        yield "caught"
    finally:
        len("over")


def delegate(n):
    result = yield from numbers(n)
    return result


@contextlib.contextmanager
def managed(names):
    names.append("in")
    try:
        yield names
    finally:
        names.append("out")


class Awaited:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return 5


async def ticker(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def total(n):
    return sum([i async for i in ticker(n)]) + await Awaited()


def drive():
    list(numbers(4))
    generator = delegate(5)
    next(generator), generator.send(7), generator.throw(ValueError), generator.close()
    unfinished = numbers(3)
    next(unfinished)
    del unfinished
    with managed([]) as names, contextlib.suppress(KeyError):
        raise KeyError(len(names))
    return sum(x * x for x in (y + 1 for y in range(5)))


print(drive())
loop = asyncio.new_event_loop()
print(loop.run_until_complete(total(4)))
loop.close()
