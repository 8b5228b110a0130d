"""Uses what stepscope offers: none of its own functions may show."""

import stepscope


@stepscope.profile
def profiled(n):
    return sum(range(n))


@stepscope.region("square")
def squared(n):
    return n * n


def batches():
    for i in range(4):
        yield len(str(i))


for batch in stepscope.steps(batches()):
    with stepscope.region("inner"):
        profiled(squared(batch))
