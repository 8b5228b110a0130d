"""for, while, else, break, continue, while True, nested and on one line."""


def for_else(values, wanted):
    for value in values:
        if value == wanted:
            break
    else:
        return "not found"
    return "found"


def while_else(n):
    while n > 0:
        n -= 1
        if n == 50:
            break
        if n % 2:
            continue
    else:
        n = -1
    return n


def forever(n):
    while True:
        n -= 1
        if n < 0:
            break
    while 1:
        for _ in range(2):
            n += 1
        if n > 3:
            return n


def one_line(n):
    for i in range(n): n += i
    while n > 100: n -= 7
    for i in range(3): pass
    for i in range(2):
        for j in range(2): n += i * j
    while n: n = n // 2 if n > 3 else 0
    return n


def long_header(rows):
    total = 0
    for (
        a,
        b,
    ) in zip(
        rows,
        rows,
    ):
        total += a * b
    while (
        total > 10
        and total % 2
    ):
        total //= 2
    return total


def nothing():
    for _ in []:
        pass
    while False:
        pass
    while not True:
        pass
    for i in range(3):
        continue
    for i in range(3): ...
    return i


def unpacking(pairs):
    out = []
    for i, (a, *rest) in enumerate(pairs):
        if not rest: continue
        for r in rest:
            if r == "stop": break
            out.append((i, a, r))
    return out


print(for_else([1, 2], 2), for_else([1, 2], 3), while_else(5), while_else(60), forever(4))
print(one_line(20), long_header([1, 2, 3, 9]), nothing())
print(unpacking(["ab", "c", ("d", "e", "stop", "f")]))
