"""Makes the recorder do all that it does: lines, steps, files, threads, a forked child, growing files."""

import os
import sys
import threading

import stepscope


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def steps(count):
    for number in range(count):
        with stepscope.region("turn"):
            work(number % 7)
        stepscope.step()


with open(__file__) as file:
    first = file.readline()
steps(6000)
helper = threading.Thread(target=steps, args=(20,), name="helper")
helper.start()
helper.join()
space = {}
for number in range(30):
    exec(compile(f"def made_{number}(n):\n" + "    n += 1\n" * 20 + "    return n\n", __file__, "exec"), space)
print(len(first), sum(space[f"made_{number}"](1) for number in range(30)), flush=True)
child = os.fork()
if not child:
    steps(5)
    print("child", work(9), flush=True)
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), work(1000))
sys.exit(5)
