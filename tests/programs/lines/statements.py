"""assert, del, global, augmented and annotated assignment, import, several on one line."""

counter = 0


def bump():
    global counter
    counter += 1; counter += 1
    return counter


def checks(x):
    assert x, "must be true"
    assert (
        x > 0
    ), (
        "must be positive"
    )
    y: int = x
    del y
    data = {"a": [1, 2, 3]}
    data["a"][
        1
    ] += 5
    del data["a"][0], data
    a = b = c = x
    a, (b, *c) = 1, (2, 3, 4)
    import os.path as path
    from collections import (
        OrderedDict,
        defaultdict,
    )
    return a, b, c, path is not None, OrderedDict, defaultdict


def branches(x):
    if x == 1: return "one"
    elif x == 2: return "two"
    elif (
        x == 3
    ):
        pass
    else:
        x = 0
    if x:
        if x > 2:
            y = 1
        else:
            y = 2
    else:
        y = 3
    return y


def docstring_only():
    """Nothing else."""


def empty(): pass


def early_return(x):
    if x:
        return
    x = 1


print(bump(), bump(), len(checks(3)))
for bad in (0, -1):
    try:
        checks(bad)
    except AssertionError as error:
        print(error)
print([branches(i) for i in range(5)], docstring_only(), empty(), early_return(1), early_return(0))
