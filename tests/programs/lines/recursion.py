"""Functions that call themselves and each other."""


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    if n == 0:
        return False
    else:
        return even(n - 1)


def deep(n):
    if n:
        return deep(n - 1) + 1
    return 0


print(fib(9), even(7), deep(300))
