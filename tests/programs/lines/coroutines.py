"""async def, await, async with, async for, async generators and comprehensions, cancellation."""

import asyncio


class Door:
    def __init__(self, swallow=False):
        self.swallow = swallow

    async def __aenter__(self):
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind, value, trace):
        await asyncio.sleep(0)
        return self.swallow


async def ticker(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)


async def forever(log):
    try:
        while True:
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        log.append("cancelled")
        raise
    finally:
        log.append("finally")


async def doors(log):
    async with Door() as a, Door() as b:
        log.append(a is b)
    async with Door(swallow=True):
        raise ValueError("swallowed")
    try:
        async with Door():
            await asyncio.sleep(0)
            raise KeyError("passed on")
    except KeyError:
        log.append("caught")


async def main():
    log = []
    async for i in ticker(3):
        if i == 1:
            continue
        log.append(i)
    else:
        log.append("else")
    async for i in ticker(9):
        if i > 1:
            break
    squares = [i * i async for i in ticker(4) if i]
    awaited = [await asyncio.sleep(0, j) for j in range(2)]
    await doors(log)
    task = asyncio.create_task(forever(log))
    for _ in range(3): await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        log.append("task gone")
    agen = ticker(5)
    await agen.asend(None)
    await agen.aclose()
    results = await asyncio.gather(
        asyncio.sleep(0, "x"),
        asyncio.sleep(0, "y"),
    )
    print(log, squares, awaited, results)


asyncio.run(main())
