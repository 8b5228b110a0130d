"""Says what it was started with, and ends as its first argument wants."""

import sys


class Mine:
    pass


def work(n):
    return n and work(n - 1)


work(3)
print(sys.argv, sys.path[0], __name__, __file__, __package__, __cached__)
print(sorted(name for name in globals() if name not in ("__spec__", "__loader__", "__doc__")))
ending = sys.argv[1] if len(sys.argv) > 1 else "end"
if ending == "exit":
    sys.exit(3)
if ending == "raise":
    raise KeyError("of the script")
if ending == "pickle":
    import pickle

    print(type(pickle.loads(pickle.dumps(Mine()))) is Mine)
