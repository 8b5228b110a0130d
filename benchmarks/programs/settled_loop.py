"""The tight loop after two and a half seconds: a tool that thins out has done so by now."""

from tight_loop import work
from timing import measure

if __name__ == "__main__":
    measure(work, rounds=3, settle_s=2.5)
