"""A program under torch.profiler from its first line to its last, as users wrap it."""

import runpy
import sys


def main() -> None:
    import torch

    trace, program = sys.argv[1:3]
    sys.path.insert(0, program.rpartition("/")[0])
    with torch.profiler.profile(record_shapes=True) as profiler:
        runpy.run_path(program, run_name="__main__")
    profiler.export_chrome_trace(trace)


if __name__ == "__main__":
    main()
