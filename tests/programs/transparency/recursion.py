"""How deep recursion goes before RecursionError: exactly as deep as without anybody watching."""

import sys
import threading


def down(n=1):
    try:
        return down(n + 1)
    except RecursionError:
        return n


def generator(n):
    yield n
    try:
        yield from generator(n + 1)
    except RecursionError:
        return


class Chain:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return repr(Chain(self.n + 1))

    def __getattr__(self, name):
        return getattr(Chain(self.n + 1), name)


depths = []


def noting(n):
    depths.append(n)
    noting(n + 1)


def attempt(function, *args):
    depths.clear()
    try:
        function(*args)
    except RecursionError as error:
        print(function.__name__, len(depths), str(error)[:30])


print(down(), down())
attempt(noting, 0)
attempt(noting, 0)
sys.setrecursionlimit(150)
print(down())
attempt(noting, 0)


def late(n):
    if n:
        return late(n - 1)
    exec(compile("def fresh():\n    return 1\nfresh()", __file__, "exec"))
    import colorsys
    return colorsys.ONE_THIRD


print(late(50))
for n in range(100, 150):
    try:
        late(n)
    except RecursionError:
        print("too deep", n)
        break
sys.setrecursionlimit(5000)
print(down())
thread = threading.Thread(target=lambda: print(down()))
thread.start()
thread.join()
print(sum(1 for _ in generator(0)) > 100)


def endless(n):
    return endless(n + 1)


endless(0)
