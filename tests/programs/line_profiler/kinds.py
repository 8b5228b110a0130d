"""One of each thing that can be decorated; `run(profile)` decorates and uses them all."""

import asyncio
import functools


def run(profile):
    @profile
    def plain(n):
        total = 0
        for i in range(n):
            if i % 2:
                total += i
        return total

    @profile
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @profile
    def counting(n):
        for i in range(n):
            got = yield i
            if got:
                n = got
        return "done"

    @profile
    def delegating(n):
        result = yield from counting(n)
        return result

    @profile
    async def waiting(n):
        for _ in range(n):
            await asyncio.sleep(0)
        return n

    @profile
    async def streaming(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    @profile
    def failing(n):
        try:
            for i in range(n):
                if i == 3:
                    raise ValueError(i)
        except ValueError as error:
            return str(error)
        finally:
            n += 1

    @profile
    class Whole:
        def method(self):
            return 1

        @staticmethod
        def of_nobody(x):
            y = x + 1
            return y

        @classmethod
        def of_class(cls):
            name = cls.__name__
            return name

        @property
        def value(self):
            return 5

        @value.setter
        def value(self, new):
            self._value = new

        @functools.cached_property
        def cached(self):
            return 7

        def base(self, a, b):
            c = a + b
            return c

        three = functools.partialmethod(base, 1, 2)

    class Parts:
        @profile
        def method(self):
            return 2

        @profile
        @staticmethod
        def of_nobody():
            return 3

        @profile
        @classmethod
        def of_class(cls):
            return 4

        @profile
        @property
        def value(self):
            return 6

    def power(base, exponent):
        result = base**exponent
        return result

    square = profile(functools.partial(power, exponent=2))
    parts = Parts()
    bound = profile(parts.method)

    async def use_async():
        items = [item async for item in streaming(3)]
        return [await waiting(2), *items]

    def use_generator():
        generator = counting(3)
        first = next(generator)
        second = generator.send(5)
        return [first, second, *generator]

    whole = Whole()
    whole.value = 1
    return [
        plain(10),
        plain(3),
        factorial(6),
        list(delegating(3)),
        use_generator(),
        asyncio.run(use_async()),
        failing(5),
        failing(2),
        whole.method(),
        Whole.of_nobody(1),
        Whole.of_class(),
        whole.value,
        whole.cached,
        whole.cached,
        whole.three(),
        parts.method(),
        parts.of_nobody(),
        Parts.of_class(),
        parts.value,
        square(4),
        bound(),
    ]
