"""Decorators, with and without arguments, on functions, methods and classes."""

import functools


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        function(*args, **kwargs)
        return function(*args, **kwargs)

    return wrapper


def scaled(factor):
    def decorate(function):
        return lambda *args: (
            factor
            * function(*args)
        )

    return decorate


def register(cls):
    cls.registered = True
    return cls


@twice
@scaled(3)
def add(a, b):
    return a + b


@register
class Thing:
    @property
    def size(self):
        return 4

    @size.setter
    def size(self, value):
        self.value = value

    @staticmethod
    @twice
    def fixed():
        return 1

    @classmethod
    def build(cls):
        return cls()


thing = Thing.build()
thing.size = 3
print(add(1, 2), thing.size, Thing.fixed(), Thing.registered)
