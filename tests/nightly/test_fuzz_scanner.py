"""The scanner of traces under a fuzzer that follows which ways through it a text takes.

`corpus/scanner.jsonl` has a text for each way that is known. To add to it what a longer search
finds, give tests/programs/nightly/fuzz_scanner.py another file as its last word.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from clean_environment import environment
from stepscope.native import _core

HERE = Path(__file__).parent
CORPUS = HERE / "corpus" / "scanner.jsonl"
PROGRAM = HERE.parent / "programs" / "nightly" / "fuzz_scanner.py"
NATIVE = Path(_core.__file__).parent
SANITIZED = (
    *("-shared", "-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-Wno-unused-function"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
    *("-fsanitize-coverage=trace-pc",),
)


def library_of(sources: list[Path], made: Path) -> Path:
    include = sysconfig.get_path("include")
    words = ["gcc", *SANITIZED, f"-I{include}", f"-I{NATIVE}", "-o", str(made), *map(str, sources)]
    subprocess.run(words, check=True, capture_output=True)
    return made


@pytest.fixture(scope="session")
def scanner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    traces = NATIVE / "traces"
    sources = [PROGRAM.with_suffix(".c"), traces / "trace_json.c", traces / "trace_texts.c"]
    return library_of(sources, tmp_path_factory.mktemp("scanner") / "scanner.so")


def fuzzed(scanner: Path, seed: int, count: int) -> subprocess.CompletedProcess[str]:
    asan = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return subprocess.run(
        [sys.executable, str(PROGRAM), str(scanner), str(CORPUS), str(seed), str(count)],
        env=environment({"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0"}),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 2000), *(pytest.param(n, 100_000, marks=pytest.mark.nightly) for n in range(1, 11))],
)
def test_the_scanner_survives_texts_that_take_ways_of_their_own(
    seed: int, count: int, scanner: Path
) -> None:
    done = fuzzed(scanner, seed, count)
    assert done.returncode == 0, done.stderr
    began, known = map(int, done.stdout.split())
    assert began >= 100
    # Made with the headers of 3.11: those of another Python may make one way of two.
    assert known >= (began if sys.version_info[:2] == (3, 11) else 0.9 * began)


def test_a_scanner_that_reads_beyond_its_text_is_caught(tmp_path: Path) -> None:
    """The fuzzer itself: with a mistake in the scanner it fails, and says for which text."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    text = (NATIVE / "traces" / "trace_json.c").read_text()
    wrong = tmp_path / "trace_json.c"
    wrong.write_text(text.replace("return at + 1;", "return at + 2;"))
    assert wrong.read_text() != text
    sources = [PROGRAM.with_suffix(".c"), wrong, NATIVE / "traces" / "trace_texts.c"]
    done = fuzzed(library_of(sources, tmp_path / "wrong.so"), 0, 20_000)
    assert done.returncode != 0
    assert "in hexadecimal: " in done.stderr
