"""Sets the limit it is told to set to its lowest, and goes on working."""

import resource
import sys

import stepscope

step, region = stepscope.step, stepscope.region  # what they need is imported now
with open("/proc/self/statm") as statm:
    mapped_bytes = int(statm.read().split()[0]) * resource.getpagesize()
LIMITS = {
    "file size": (resource.RLIMIT_FSIZE, 4096),
    "descriptors": (resource.RLIMIT_NOFILE, 3),
    "memory": (resource.RLIMIT_AS, mapped_bytes + 2**25),
    "threads": (resource.RLIMIT_NPROC, 0),
    "locked memory": (resource.RLIMIT_MEMLOCK, 0),
}
which, lowest = LIMITS[sys.argv[1]]
resource.setrlimit(which, (lowest, lowest))
if sys.argv[2:] == ["default signals"]:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


print(sum(work(i) for i in range(300)))
for _ in range(15_000):
    with region("r"):
        step()
space = {}
for i in range(50):
    exec(compile(f"def made_{i}(n):\n" + "    n += 1\n" * 50 + "    return n\n", __file__, "exec"), space)
print(sum(space[f"made_{i}"](1) for i in range(50)))
