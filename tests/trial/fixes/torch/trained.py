"""What the tests of torch's fixes train, and the losses that come out."""

from pathlib import Path
from typing import Any, NamedTuple

import needs
from trial.scripts import Tried, run_with

PROGRAMS = Path(__file__).parents[3] / "programs" / "trial"
# Of the test's machine, a core at most: many run at the same time.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}


class Trained(NamedTuple):
    tried: Tried
    losses: list[float]

    @property
    def printed(self) -> dict[str, str]:
        """What the program says about itself at its end, by its first word."""
        rows = (line.partition(" ") for line in self.tried.stderr.splitlines())
        return {first: rest for first, _, rest in rows}


def train(into: Path, program: str | Path, *arguments: str, **fixes: Any) -> Trained:
    """`fixes`: a fix's name, with _ for -, and its settings."""
    needs.require("torch")
    by_name = {name.replace("_", "-"): settings for name, settings in fixes.items()}
    script = PROGRAMS / program
    tried = run_with(script, *arguments, fixes=by_name, into=into, env=ENVIRONMENT)
    assert tried.status == 0, tried.stderr
    lines = tried.stdout.splitlines()
    return Trained(tried, [float(line) for line in lines if line[0].isdecimal() or line[0] == "-"])
