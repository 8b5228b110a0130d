"""Generators: send, throw, close, one that is left unfinished, and expressions."""


def numbers(n):
    for i in range(n):
        got = yield i
        if got:
            i = got
    return "done"


def guarded(log):
    try:
        while True:
            try:
                yield len(log)
            except ValueError as error:
                log.append(str(error))
    finally:
        log.append("closed")


def one_line(n):
    for i in range(n): yield i


def main():
    g = numbers(4)
    print(next(g), g.send(7), list(g))
    log = []
    h = guarded(log)
    next(h)
    h.throw(ValueError("first"))
    h.throw(ValueError("second"))
    h.close()
    print(log)
    left = numbers(3)
    next(left)
    del left
    never = numbers(3)
    never.close()
    total = sum(
        x * x
        for x in one_line(5)
        if x % 2
    )
    print(total, max(one_line(3)))


main()
