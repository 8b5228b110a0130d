"""coverage in branch mode, with each of its tracers."""

import os
import sys

try:
    import coverage
except ImportError:
    print("skipped: coverage is not installed")
    raise SystemExit


def branches(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += 1
        else:
            total -= 1
        if i > 100:
            print("never")
    while total:
        total -= 1 if total > 0 else -1
    try:
        raise KeyError
    except ValueError:
        pass
    except KeyError:
        return [x for x in range(3) if x]
    finally:
        total += 1


def generator():
    yield from (1, 2)


def measure():
    measured = coverage.Coverage(data_file=None, branch=True, config_file=False)
    measured.start()
    branches(5)
    list(generator())
    import colorsys

    measured.stop()
    del sys.modules["colorsys"]
    data = measured.get_data()
    for file in sorted(data.measured_files()):
        print(os.path.basename(file), sorted(data.arcs(file)), sorted(data.lines(file)))
    analysis = measured.analysis2(__file__)
    print(analysis[1:4])


cores = ["ctrace", "pytrace"] + (["sysmon"] if sys.version_info >= (3, 12) else [])
for core in cores:
    os.environ["COVERAGE_CORE"] = core
    measure()
