"""Closures, defaults, nonlocal, functions made in loops."""


def counter():
    count = 0

    def increment(by=1):
        nonlocal count
        count += by
        return count

    def reset():
        nonlocal count
        count = 0

    return increment, reset


def outer(n):
    def middle(m):
        def inner():
            return n + m

        return inner() + inner()

    return [middle(i) for i in range(n)]


def made(n):
    functions = []
    for i in range(n):
        def function(i=i):
            return i
        functions.append(function)
    return sum(f() for f in functions)


increment, reset = counter()
increment()
increment(by=4)
reset()
print(increment(), outer(4), made(5))
