"""Climbs from slow scripts to fast ones: `python -m benchmarks.ladder [NAMES…]`.

Each script of `examples/ladder/` goes through `stepscope try --ladder`. Its answer is kept in
`benchmarks/out/ladder/`, and the page is written from all answers that are there.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from benchmarks import machine
from benchmarks.ladder.page import Climbed, page
from benchmarks.run import ONE_THREAD, OUT
from stepscope.model.trial import TrialAnswer

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURES = EXAMPLES / "data" / "pictures"
RESULTS = Path(__file__).parent / "results.md"
NAMES = ("gan_torch", "classifier_tf")
MINUTES = 15.0
ROUNDS = 4
STEPS = 125  # five times all pictures: what keeps them gains from the second time on


def climb(name: str, folder: Path, options: list[str]) -> Climbed:
    """In a folder of its own, so that paths are short and nothing else is copied for each run."""
    folder.mkdir(parents=True, exist_ok=True)
    script = Path(shutil.copy(EXAMPLES / "ladder" / f"{name}.py", folder)).name
    about = machine.describe()
    typed = ["try", "--ladder", *options, script]
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", *typed[:2], "--json", *typed[2:], "--data", PICTURES],
        cwd=folder,
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        check=True,
    )
    answer = msgspec.json.decode(done.stdout, type=TrialAnswer)
    return Climbed(name, ["stepscope", *typed], about, answer)


def saved(folder: Path) -> list[Climbed]:
    paths = (folder / f"{name}.json" for name in NAMES)
    return [msgspec.json.decode(path.read_bytes(), type=Climbed) for path in paths if path.exists()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ladder", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAMES", help=f"{', '.join(NAMES)}: which ones")
    parser.add_argument("--budget", type=float, default=MINUTES, metavar="MINUTES", help="for each")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="for each fix, at most")
    parser.add_argument("--steps", type=int, default=STEPS, help="of each run")
    asked = parser.parse_args()
    options = [f"--{name}={getattr(asked, name):g}" for name in ("budget", "rounds", "steps")]
    if not PICTURES.is_dir():
        sys.exit(f"There are no pictures in '{PICTURES}': 'make ladder' makes them.")
    folder = OUT / "ladder"
    for name in asked.names or NAMES:
        climbed = climb(name, folder, options)
        (folder / f"{name}.json").write_bytes(msgspec.json.encode(climbed))
    RESULTS.write_text(page(saved(folder)))
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()
