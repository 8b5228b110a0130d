"""Every system call of the recorder fails once, in every way it can: the script does not notice."""

import errno
import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clean_environment import environment
from robustness.running import PROGRAMS
from stepscope.analyze.run import load
from stepscope.record.boot import environment_for
from stepscope.store import format as fmt
from transparency.both import PATIENCE_S

SHIM = Path(__file__).with_name("faults.c")
PROGRAM = PROGRAMS / "uses_every_call.py"
SHORT = 0
KINDS = [SHORT, errno.ENOSPC, errno.EMFILE, errno.EINTR, errno.ENOMEM, errno.EDQUOT, errno.EIO]


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(SHIM), "-ldl"]
    subprocess.run(words, check=True, capture_output=True)
    return made


def run(folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """The script's status and output without us."""
    return run(tmp_path_factory.mktemp("plain"), environment())[:2]


def has_failed(
    place: Path, shim: Path, expected: tuple[int, str], fault: tuple[int, int, bool]
) -> bool:
    """Check the script with that call failing (and all after it); False: it makes fewer calls."""
    kind, at, for_good = fault
    (place / "run").mkdir(parents=True)
    fields = {"format": fmt.FORMAT_VERSION, "options": {"max_bytes": 2**24}}
    (place / "run" / fmt.RUN_FILE).write_text(json.dumps(fields))
    faults = {
        "LD_PRELOAD": str(shim),
        "FAULT_FOLDER": f"{place}/run/",
        "FAULT_AT": str(at),
        "FAULT_LAST": "0" if for_good else str(at),
        "FAULT_WITH": str(kind),
        "FAULT_SAID": str(place / "failed"),
    }
    status, said, talk = run(place, environment_for(str(place / "run"), environment()) | faults)
    assert (status, said) == expected, (fault, talk)
    assert "Traceback" not in talk, fault
    notes = [note for process in load(place / "run").processes for note in process.notes]
    assert not any("lines cannot be read" in note for note in notes), (fault, notes)
    failed = (place / "failed").exists()
    shutil.rmtree(place)
    return failed


def sweep(folder: Path, shim: Path, expected: tuple[int, str], kind: int, every: int = 1) -> int:
    """Until no call is left to fail; how many there are."""
    for at in itertools.count(1, every):
        once = has_failed(folder / "once", shim, expected, (kind, at, False))
        if not has_failed(folder / "from then on", shim, expected, (kind, at, True)) or not once:
            return at - every
    raise AssertionError


def test_a_script_does_not_notice_that_calls_of_the_recorder_fail(
    tmp_path: Path, shim: Path, expected: tuple[int, str]
) -> None:
    assert sweep(tmp_path, shim, expected, errno.ENOSPC, every=40) > 40


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_a_script_does_not_notice_whichever_call_of_the_recorder_fails(
    kind: int, tmp_path: Path, shim: Path, expected: tuple[int, str]
) -> None:
    assert sweep(tmp_path, shim, expected, kind) > 40
