"""Walrus, chained comparisons, conditional and multi-line expressions and calls, star-args."""


def collect(*args, first=0, **kwargs):
    return (first, args, sorted(kwargs))


def main():
    values = [5, 3, 8]
    if (n := len(values)) > 2 and (
        m := max(values)
    ) > n:
        n += m
    inside = 1 < n < 20 <= 21
    outside = (
        1
        < n
        < 3
        < 1 / 1
    )
    text = (
        "yes"
        if inside
        else "no"
    )
    either = (
        None
        or 0
        or text
    )
    called = collect(
        *values,
        first=collect(
            1,
            *range(
                2
            ),
        ),
        **{
            "a": 1,
            "b": 2,
        },
    )
    long = (values
            [0:2]
            + [n]
            .copy())
    chained = (
        "a-b-c"
        .replace("a", "x")
        .split("-")
    )
    formatted = f"""{
        n
    } and {text!r:>8}
    end"""
    merged = {**{"x": 1}, "y": [*values, *long]}
    not_so = not (
        inside
        and outside
    )
    print(n, inside, outside, text, either, called, long, chained, formatted, merged, not_so)


main()
