"""How much of a line is Python, C and waiting: on lines of which that is known by construction."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from clean_environment import environment
from stepscope.analyze.code.line_samples import line_samples
from stepscope.analyze.run import load
from stepscope.model.page import LineSamples
from transparency.both import PATIENCE_S

PROGRAM = Path(__file__).parent.parent / "programs" / "samples" / "line_parts.py"
MOST = 0.6  # on a busy machine a thread that woke up is ready for a while, without a core


def recorded(folder: Path, *words: str) -> dict[int, LineSamples]:
    """By line of the program."""
    run = folder / "run"
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", str(run), str(PROGRAM)]
    subprocess.run(
        [*command, *words], env=environment(), cwd=folder, timeout=PATIENCE_S, check=True
    )
    found = line_samples(load(run))
    return {each.line: each for each in found if each.file.endswith(PROGRAM.name)}


def lines_marked(word: str) -> list[int]:
    text = PROGRAM.read_text().splitlines()
    return [number for number, line in enumerate(text, 1) if line.endswith(f"# {word}")]


def share(line: LineSamples, word: str) -> float:
    whole_ns = line.own_ns + line.calls_ns
    parts = {"python": line.python_ns, "native": line.native_ns, "waiting": line.waiting_ns}
    assert None not in parts.values()
    assert sum(part or 0 for part in parts.values()) == whole_ns
    return (parts[word] or 0) / whole_ns


@pytest.mark.parametrize("framework", ["", "torch", "jax"])
def test_each_line_spends_its_time_as_it_is_made_to(tmp_path: Path, framework: str) -> None:
    if framework and find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    found = recorded(tmp_path, framework)
    for word in ("python", "native", "waiting"):
        seen = [found[line] for line in lines_marked(word) if line in found]
        assert seen
        for line in seen:
            assert share(line, word) > MOST, (line.line, word)
