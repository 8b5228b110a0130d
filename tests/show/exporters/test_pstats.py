"""The pstats export, opened by Python's own viewer and by snakeviz's server."""

import contextlib
import html
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import needs
from show.exporters.recorded import PATIENCE_S, PROGRAM, STEPS, python, shown, stepscope

CALLS = {"forward": STEPS, "square": 50 * STEPS, "write": STEPS, "train": 1}
OWN = {
    f"{PROGRAM.name}:{number}({name})": calls
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
    for name, calls in CALLS.items()
    if line.strip().startswith(f"def {name}(")
}  # by its place, how often each was called


@pytest.fixture(scope="module")
def exported(recorded: Path) -> Path:
    stepscope("export", "run", "--to", "pstats", folder=recorded)
    return recorded / "run.pstats"


def test_pythons_own_viewer_lists_the_functions(exported: Path) -> None:
    commands = "sort cumtime\nstats 5\nsort ncalls\nstats small_training\n"
    page = python("-m", "pstats", exported.name, folder=exported.parent, input=commands).stdout
    first, second = page.split("Ordered by: call count")
    assert "Ordered by: cumulative time" in first
    assert "due to restriction <5>" in first
    # ncalls, tottime, percall, cumtime, percall, then the place
    rows = [line.split(maxsplit=5) for line in second.splitlines() if "small_training.py:" in line]
    counted = {Path(row[5]).name: int(row[0]) for row in rows}
    assert counted.items() >= OWN.items()


def test_pythons_own_viewer_has_the_times_that_show_has(exported: Path) -> None:
    answer = shown("functions", folder=exported.parent)["functions"]
    times = {row["function"]: row["cumtime_ns"] for row in answer}
    page = python(
        "-m", "pstats", exported.name, folder=exported.parent, input="stats train\\)\n"
    ).stdout
    (row,) = [line.split() for line in page.splitlines() if line.endswith("(train)")]
    assert float(row[3]) == pytest.approx(times["train"] * 1e-9, abs=0.001)


@contextlib.contextmanager
def snakeviz(path: Path) -> Iterator[str]:
    """The address of the page on which the real server shows the file."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["-m", "snakeviz", "--server", "-H", "127.0.0.1", "-p", str(port), str(path)]
    server = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield address_in(server)
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_S)


def address_in(server: "subprocess.Popen[str]") -> str:
    """It is printed once the server listens; another port may have been taken."""
    assert server.stdout is not None
    said = []
    for line in server.stdout:
        said.append(line)
        if line.startswith("http://127.0.0.1:"):
            return line.strip()
    raise AssertionError(f"snakeviz ended: {''.join(said)}")


def fetch(address: str) -> str:
    """Without any proxy that the environment names."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=PATIENCE_S) as answer:
        assert answer.status == 200
        page: str = answer.read().decode()
    return html.unescape(page)


def test_snakeviz_shows_the_functions_of_the_program(exported: Path) -> None:
    needs.module("snakeviz")
    assert len(OWN) == len(CALLS)
    with snakeviz(exported) as address:
        page = fetch(address)
    assert not [place for place in OWN if place not in page]
