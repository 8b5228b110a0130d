"""Exceptions thrown into a coroutine that waits, by hand, without an event loop."""


class Wait:
    def __await__(self):
        got = yield "waiting"
        return got


class Picky:
    def __await__(self):
        try:
            yield "picky"
        except ValueError:
            return "handled"


class Exit:
    async def __aenter__(self): return self

    async def __aexit__(self, *what):
        await Wait()
        return True


async def job(log):
    first = await Wait()
    log.append(first)
    second = (
        await Picky()
    )
    log.append(second)
    async with Exit(): await Wait()
    async with Exit() as x, \
            Exit() as y:
        log.append(x is y)
        await Wait()
    try:
        await Wait()
    except KeyError: log.append("key")
    return log


def drive():
    coroutine = job([])
    print(coroutine.send(None))
    print(coroutine.send("first"))
    print(coroutine.throw(ValueError("v")))
    print(coroutine.throw(ValueError("w")))
    print(coroutine.send(None))
    print(coroutine.throw(IndexError))
    print(coroutine.send(None))
    print(coroutine.send(None))
    try:
        coroutine.throw(KeyError)
    except StopIteration as stop:
        print(stop.value)
    unfinished = job([])
    unfinished.send(None)
    unfinished.close()


drive()
