"""numba reads the bytecode of a function."""

try:
    import numba
except ImportError:
    print("skipped: numba is not installed")
    raise SystemExit


@numba.njit
def total(n):
    result = 0
    for i in range(n):
        if i % 3:
            result += i
    return result


def helper(x):
    return x * 2


compiled = numba.njit(helper)


@numba.njit
def calls_another(n):
    return compiled(n) + total(n)


print(total(1000), calls_another(10), total.py_func(1000), total.nopython_signatures)
print(numba.vectorize(["float64(float64)"])(lambda x: x + 1)(2.0))
