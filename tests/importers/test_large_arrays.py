"""Arrays beyond a limit lie in files, and nobody who uses them can tell."""

import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.made_traces import make
from stepscope.cli.main import main
from stepscope.importers import large_arrays
from stepscope.importers.large_arrays import on_disk
from stepscope.native import _core

MIB = 2**20
# More than fits in the memory that it may have: without files, that is a MemoryError.
_MUCH = """
import resource, sys
import numpy as np
from stepscope.importers.large_arrays import on_disk
limit = int(sys.argv[1])
used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_DATA, (used + (64 << 20), resource.RLIM_INFINITY))
with on_disk(limit, 1 << 20):
    arrays = [np.full(1 << 20, number, np.int64) for number in range(64)]
    print(sum(int(each.sum()) >> 20 for each in arrays))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_what_exceeds_the_limit_moves_to_files_and_keeps_its_numbers() -> None:
    before = _core.spill_sizes()
    with on_disk(8 * MIB, MIB) as is_possible:
        assert is_possible
        arrays = [np.full(MIB // 4, number, np.int64) for number in range(20)]
        in_memory, in_files = _core.spill_sizes()
        assert in_memory <= 8 * MIB
        assert in_files >= 30 * MIB
        arrays[0][7] = 100  # one that has moved
        assert [int(each.max()) for each in arrays] == [100, *range(1, 20)]
        del arrays
        assert _core.spill_sizes() == before


def test_arrays_grow_and_begin_with_zeros_as_ever() -> None:
    with on_disk(2 * MIB, MIB // 8):
        old = np.full(MIB // 8, 5, np.int64)
        del old  # its pages may be used again
        zeros = np.zeros(MIB // 8, np.int64)
        assert not zeros.any()
        zeros.resize(MIB // 2, refcheck=False)
        assert zeros.shape == (MIB // 2,)
        assert not zeros.any()
        parts = np.concatenate([np.arange(MIB // 8), np.arange(MIB)])
        assert parts.sum() == sum(range(MIB // 8)) + sum(range(MIB))


def test_the_limit_holds_for_the_process() -> None:
    ask = [sys.executable, "-c", _MUCH]
    bounded = subprocess.run([*ask, str(16 * MIB)], capture_output=True, text=True, check=False)
    assert bounded.stdout.strip() == str(sum(range(64))), bounded.stderr
    whole = subprocess.run([*ask, str(2**40)], capture_output=True, text=True, check=False)
    assert "MemoryError" in whole.stderr


def test_afterwards_arrays_are_numpys_own() -> None:
    with on_disk():
        assert np._core.multiarray.get_handler_name() == "stepscope_spill"  # type: ignore[attr-defined]  # what NumPy says of itself
    assert np._core.multiarray.get_handler_name() == "default_allocator"  # type: ignore[attr-defined]  # as above


def test_memory_is_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        large_arrays, "_folders", lambda: iter([Path("/dev/shm"), Path("/nowhere")])
    )
    with on_disk(MIB, MIB) as is_possible:
        assert not is_possible
        assert [np.full(MIB, 3, np.int8).sum() for _ in range(4)] == [3 * MIB] * 4


def test_where_files_may_not_grow_arrays_stay_in_memory() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with on_disk(MIB, MIB) as is_possible:
        assert is_possible
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB // 2, before[1]))
        try:
            arrays = [np.full(MIB, number, np.int8) for number in range(4)]
            assert _core.spill_sizes()[1] == 0
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [int(each[-1]) for each in arrays] == [0, 1, 2, 3]


@pytest.mark.parametrize("view", ["summary", "device", "kernels", "ops"])
def test_a_view_says_the_same_of_a_trace_that_lies_in_files(
    view: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, in_files = make(tmp_path / "trace.json.gz", 20_000), []

    @contextlib.contextmanager
    def in_little_memory() -> Iterator[None]:
        with on_disk(2**17, 2**12):
            yield
            in_files.append(_core.spill_sizes()[1])

    assert main(["show", str(path), view, "--json"]) == 0
    usual = capsys.readouterr().out
    os.utime(path, (0, 0))  # another file: it is read again
    monkeypatch.setattr(large_arrays, "on_disk", in_little_memory)
    assert main(["show", str(path), view, "--json"]) == 0
    assert capsys.readouterr().out == usual
    assert in_files[0] > 2**18
