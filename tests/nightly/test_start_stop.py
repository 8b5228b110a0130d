"""Starting and stopping a thousand times leaves nothing behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent.parent / "programs" / "nightly" / "start_stop.py"
ALLOWED_GROWTH_BYTES = 2 * 2**20  # 2 KB a time would be found; the allocator's own noise is less
ALLOWED_OBJECTS = 500


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    folder = tmp_path_factory.mktemp("start_stop")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, dict[str, int]] = json.loads(done.stdout)
    return answer


@pytest.mark.nightly
@pytest.mark.parametrize("what", ["descriptors", "threads", "mappings"])
def test_what_is_counted_stays_the_same(held: dict[str, dict[str, int]], what: str) -> None:
    spare = 5 if what == "mappings" else 0  # the allocator maps a little more now and then
    assert held["after"][what] <= held["before"][what] + spare


@pytest.mark.nightly
def test_memory_stays_flat(held: dict[str, dict[str, int]]) -> None:
    growth_bytes = held["after"]["resident_bytes"] - held["before"]["resident_bytes"]
    assert growth_bytes < ALLOWED_GROWTH_BYTES


@pytest.mark.nightly
def test_objects_do_not_pile_up(held: dict[str, dict[str, int]]) -> None:
    assert held["after"]["objects"] - held["before"]["objects"] < ALLOWED_OBJECTS
