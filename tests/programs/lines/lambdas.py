"""Lambdas on one line, over several lines, nested, as keys and defaults."""

square = lambda x: x * x

choose = lambda x: (
    "big"
    if x > 10
    else "small"
)

curry = lambda a: \
    lambda b: \
        a + b


def apply(function, values, key=lambda v:
          -v):
    return sorted(
        map(
            lambda v: function(
                v
            ),
            values,
        ),
        key=key,
    )


print(square(3), choose(3), choose(30), curry(1)(2), apply(square, range(5)))
