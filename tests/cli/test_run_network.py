"""`stepscope run` into a folder on a network file system."""

import subprocess
import sys
from pathlib import Path

from clean_environment import environment
from cli.running import PATIENCE_S, processes, program, read_json

# Everything named "far" is on the network.
STARTED = """
import sys
from stepscope.store import local_folder
local_folder.file_system_of = lambda path, mounts="": "nfs4" if "far" in path else "ext4"
from stepscope.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_far(*words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", STARTED, "run", *words],
        cwd=cwd,
        env=environment({"TMPDIR": str(cwd / "near"), **env}),
        capture_output=True,
        timeout=PATIENCE_S,
    )


def test_it_is_recorded_nearby_and_moved_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "near").mkdir()
    recorded = run_far("-o", "far", program("exit_with.py"), "3", cwd=tmp_path)
    assert recorded.returncode == 3
    assert b"network file system" in recorded.stderr
    (process,) = processes(tmp_path / "far")
    assert process["status"] == "ended"
    assert read_json(tmp_path / "far" / "supervisor.json")["exit_status"] == 3
    assert (tmp_path / "far" / "system.jsonl").exists()
    assert list((tmp_path / "near").iterdir()) == []
    assert not list((tmp_path / "far").glob("elsewhere-*"))


def test_a_rank_brings_its_own_records_home(tmp_path: Path) -> None:
    (tmp_path / "near").mkdir()
    for rank in ("0", "1"):
        rank_of = {"RANK": rank, "WORLD_SIZE": "2"}
        ended = run_far("-o", "far", program("print_rank.py"), cwd=tmp_path, **rank_of)
        assert ended.returncode == 0, ended.stderr
    found = processes(tmp_path / "far")
    assert [(process["rank"], process["status"]) for process in found] == [
        (0, "ended"),
        (1, "ended"),
    ]
    assert list((tmp_path / "near").iterdir()) == []
