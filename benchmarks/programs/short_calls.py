"""Short functions called in a loop: the dearest case for what is left of lines thinned out."""


class Point:
    def __init__(self, x):
        self.x = x

    def moved(self, by):
        return self.x + by

    @property
    def doubled(self):
        return self.x * 2

    def clipped(self, low):
        x = self.x
        if x < low:
            return low
        x += 1
        return x


def method(turns):
    point = Point(3)
    for number in range(turns):
        point.moved(number)


def property_(turns):
    point = Point(3)
    for _ in range(turns):
        point.doubled  # noqa: B018


def branches(turns):
    point = Point(3)
    for _ in range(turns):
        point.clipped(2)


def lambda_(turns):
    scaled = lambda value: value * 3  # noqa: E731
    for number in range(turns):
        scaled(number)


def counted(turns):
    for number in range(turns):  # noqa: UP028
        yield number


def generator(turns):
    for _ in counted(turns):
        pass


def comprehension(turns):
    row = (1, 2, 3)
    for _ in range(turns):
        [value + 1 for value in row]


def doubled(value):
    return value + value


def mapped(turns):
    for _ in map(doubled, range(turns)):
        pass


KINDS = {
    "method": method,
    "property": property_,
    "branches": branches,
    "lambda": lambda_,
    "generator": generator,
    "comprehension": comprehension,
    "map": mapped,
}
