"""Delegation to sub-generators, with values, exceptions and close passing through."""


def inner(log):
    try:
        x = yield 1
        log.append(x)
        y = yield 2
        log.append(y)
    except KeyError:
        log.append("key")
        return "from inner"
    finally:
        log.append("inner ends")
    return "plain"


def outer(log):
    result = yield from inner(log)
    log.append(result)
    other = (yield from
             [10, 20])
    log.append(other)
    try:
        yield from inner(log)
    except RuntimeError as error:
        log.append(repr(error))
    with Quiet(): yield from inner(log)
    yield "last"


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        return True


def main():
    log = []
    g = outer(log)
    print(next(g), g.send("a"), g.send("b"))
    print(next(g), next(g))
    print(g.throw(RuntimeError("thrown")))
    print(g.throw(IndexError("swallowed")))
    print(list(g))
    g = outer(log)
    next(g)
    print(g.throw(KeyError))
    next(g)
    next(g)
    g.close()
    print(log)


main()
