"""line_profiler's interface: one import differs."""

from stepscope import LineProfiler

profile = LineProfiler()


@profile
def collatz(start):
    steps = 0
    while start != 1:
        start = start // 2 if start % 2 == 0 else 3 * start + 1
        steps += 1
    return steps


if __name__ == "__main__":
    print(max(collatz(start) for start in range(1, 2_000)))
    profile.print_stats()
