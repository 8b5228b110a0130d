"""match with every kind of pattern."""

import dataclasses


@dataclasses.dataclass
class Point:
    x: int
    y: int


def describe(thing):
    match thing:
        case 0 | 1:
            return "small"
        case int(n) if n > 100:
            return f"big {n}"
        case int():
            return "int"
        case {"kind": kind, **rest}:
            return (kind, rest)
        case [first, *others]:
            return (first, others)
        case Point(x=0, y=y):
            return y
        case Point(x, y):
            return x + y
        case str() as text if (
            text.startswith("a")
            and text.endswith("b")
        ):
            return text
        case None:
            pass
        case _:
            return "other"


for thing in [0, 1, 500, 7, {"kind": "k", "a": 1}, [1, 2, 3], [], Point(0, 4), Point(2, 3), "ab",
              "x", None, 2.5]:
    print(describe(thing))
