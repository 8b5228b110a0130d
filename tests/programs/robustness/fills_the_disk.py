"""Makes new code, opens files and takes steps until it has made more records than fit; then says
that all its work was done."""

import sys

import stepscope


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


done = 0
for step in range(int(sys.argv[1])):
    space = {}
    source = f"def made_{step}(n):\n" + "    n += 1\n" * 50 + "    return n\n"
    exec(compile(source, __file__, "exec"), space)
    with stepscope.region(f"region {step}"):
        done += space[f"made_{step}"](0) == 50
    for _ in range(20):
        with open(__file__) as file:
            file.readline()
        stepscope.step()
    work(1000)
print("done", done)
