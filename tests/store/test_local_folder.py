"""Runs on network file systems: recorded nearby, brought home afterwards."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.store import local_folder

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:5 / /home rw shared:2 - nfs4 server:/home rw
24 23 0:6 / /home/local\\040disk rw - xfs /dev/sdb rw
25 22 0:7 / /mnt/bucket rw - fuse.gcsfuse bucket rw
26 22 0:8 / /containers rw - fuse.fuse-overlayfs x rw
"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/var/x", "ext4", False),
        ("/home/me/run", "nfs4", True),
        ("/homes", "ext4", False),
        ("/home/local disk/run", "xfs", False),
        ("/mnt/bucket", "fuse.gcsfuse", True),
        ("/containers/x", "fuse.fuse-overlayfs", False),
    ],
)
def test_the_file_system_of_a_path(path: str, kind: str, network: bool, tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert local_folder.file_system_of(path, str(tmp_path / "mounts")) == kind
    assert local_folder.is_network(kind) == network


def test_a_system_that_does_not_say_counts_as_local() -> None:
    assert not local_folder.is_network(local_folder.file_system_of("/", "/no/such/file"))


def test_a_local_run_stays_where_it_is(tmp_path: Path) -> None:
    assert local_folder.place_for(str(tmp_path)) == str(tmp_path)


@pytest.fixture
def network_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """(run folder on the network, where it is recorded)"""
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text('{"options": {}}')
    real = local_folder.file_system_of

    def pretended(path: str, mounts: str = local_folder.MOUNTS) -> str | None:
        return "nfs" if path == str(run) else real(path, mounts)

    monkeypatch.setattr(local_folder, "file_system_of", pretended)
    place = Path(local_folder.place_for(str(run)))
    yield run, place
    shutil.rmtree(place, ignore_errors=True)


def record(place: Path, pid: int) -> None:
    folder = place / f"proc-0-here-{pid}"
    folder.mkdir()
    (folder / "process.json").write_text(json.dumps({"pid": pid}))
    (folder / "events.bin").write_bytes(b"events")


def ended_process() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_a_network_run_is_recorded_nearby_and_says_where(network_run: tuple[Path, Path]) -> None:
    run, place = network_run
    assert place != run
    assert (place / "run.json").read_text() == (run / "run.json").read_text()
    pointer = json.loads((run / f"elsewhere-{socket.gethostname()}.json").read_text())
    assert pointer == {"host": socket.gethostname(), "folder": str(place)}


def test_all_ranks_of_a_host_record_in_the_same_folder(network_run: tuple[Path, Path]) -> None:
    run, place = network_run
    assert local_folder.place_for(str(run)) == str(place)


def test_collecting_brings_everything_home(network_run: tuple[Path, Path]) -> None:
    run, place = network_run
    pid = ended_process()
    record(place, pid)
    (place / "sources").mkdir()
    (place / "sources" / "abc").write_text("text")
    (place / "system.jsonl").write_text("{}\n")
    (run / "system.jsonl").write_text('{"of": "another host"}\n')
    assert local_folder.collect(str(run)) == []
    assert (run / f"proc-0-here-{pid}" / "events.bin").read_bytes() == b"events"
    assert (run / "sources" / "abc").read_text() == "text"
    assert (run / "system.jsonl").read_text() == '{"of": "another host"}\n{}\n'
    assert not place.exists()
    assert sorted(path.name for path in run.iterdir()) == [
        f"proc-0-here-{pid}",
        "run.json",
        "sources",
        "system.jsonl",
    ]


def test_what_a_living_process_writes_stays_until_it_has_ended(
    network_run: tuple[Path, Path],
) -> None:
    run, place = network_run
    record(place, os.getppid())
    record(place, os.getpid())  # our own is complete: we are the one that collects
    (sentence,) = local_folder.collect(str(run))
    assert str(place) in sentence
    assert (run / f"proc-0-here-{os.getpid()}").exists()
    assert (place / f"proc-0-here-{os.getppid()}").exists()


def test_records_on_another_host_are_named_and_left_alone(network_run: tuple[Path, Path]) -> None:
    run, _ = network_run
    local_folder.collect(str(run))
    (run / "elsewhere-node9.json").write_text('{"host": "node9", "folder": "/tmp/x"}')
    assert "on node9 in '/tmp/x'" in local_folder.collect(str(run))[0]
    assert (run / "elsewhere-node9.json").exists()


def test_a_run_without_pointers_has_nothing_to_collect(tmp_path: Path) -> None:
    assert local_folder.collect(str(tmp_path)) == []


def test_a_run_folder_that_points_at_somebodys_files_leaves_them_alone(tmp_path: Path) -> None:
    """Run folders are copied around: what they say must not move or remove anything else."""
    run, precious = tmp_path / "run", tmp_path / f"stepscope-{os.getuid()}-precious"
    for folder in (run, precious):
        folder.mkdir()
    (run / "run.json").write_text("{}")
    (precious / "thesis.tex").write_text("years of work")
    pointer = {"host": socket.gethostname(), "folder": str(precious)}
    (run / f"elsewhere-{socket.gethostname()}.json").write_text(json.dumps(pointer))
    (sentence,) = local_folder.collect(str(run))
    assert "still on" in sentence
    assert (precious / "thesis.tex").read_text() == "years of work"
    (run / "elsewhere-x.json").write_text("[broken")
    assert len(local_folder.collect(str(run))) == 1
