"""Closes every descriptor it did not open, as daemons do, and opens files of its own."""

import os
import sys


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


work(100)
os.closerange(3, 256)
files = [open(f"mine-{i}", "w+") for i in range(20)]
print([file.fileno() for file in files])
for i, file in enumerate(files):
    file.write(f"content {i}\n")
    file.flush()
for i in range(300):  # new code and new names, which a recorder would write down
    space = {}
    exec(compile(f"def made_{i}(n):\n    for j in range(n):\n        n += j\n    return n\n"
                 + f"# {'x' * 50}\n" * 20, __file__, "exec"), space)
    space[f"made_{i}"](3)
import colorsys  # noqa: E402

pid = os.fork()
if pid == 0:
    work(1000)
    print([file.fileno() for file in files if os.fstat(file.fileno()).st_size < 30], flush=True)
    os._exit(0)
os.waitpid(pid, 0)
for i, file in enumerate(files):
    file.seek(0)
    assert file.read() == f"content {i}\n", (i, file.fileno())
    file.close()
print(sorted((name, os.path.getsize(name)) for name in os.listdir() if name.startswith("mine")))
print(colorsys.__name__, len(sys.argv))
