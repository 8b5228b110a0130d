"""Class bodies, metaclasses, decorators, exec, eval, imports."""

import colorsys


class Meta(type):
    def __new__(cls, name, bases, space):
        return super().__new__(cls, name, bases, space)

    def __call__(cls, *args):
        return super().__call__(*args)


class Outer(metaclass=Meta):
    class Inner:
        values = [len(str(i)) for i in range(3)]

    def __init_subclass__(cls):
        cls.known = sorted(vars(cls))


def decorated(function):
    def wrapper(*args):
        return function(*args)

    return wrapper


@decorated
def plain(x):
    return x


class Child(Outer):
    @decorated
    def method(self):
        return plain(3)


space = {}
exec("def made(n):\n    return n and made(n - 1)\nmade(4)", space)
print(Child().method(), space["made"](2), eval("len('four')"), colorsys.rgb_to_hsv(1, 0.5, 0))
