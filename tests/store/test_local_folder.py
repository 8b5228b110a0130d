"""Runs on network file systems: recorded nearby, brought home afterwards."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
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


# --- the name of the folder can be foreseen -------------------------------------------------------


@pytest.fixture
def nearby(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first place that is tried."""
    place = tmp_path / "near"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.setenv("SLURM_TMPDIR", str(place))
    return place


def again(run: Path, planted: Path) -> Path:
    """Where the run is recorded once something else has the name of its folder."""
    place = Path(local_folder.place_for(str(run)))
    assert place != planted
    assert local_folder.is_private(str(place)) or place == run
    return place


@pytest.fixture
def planted(nearby: Path, network_run: tuple[Path, Path]) -> Iterator[Path]:
    """The name that the run's folder would have, free to be taken."""
    _, place = network_run
    assert place.parent == nearby
    assert place.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(place)
    yield place
    for folder in (Path("/dev/shm"), Path(tempfile.gettempdir())):
        shutil.rmtree(folder / place.name, ignore_errors=True)


def test_a_link_with_the_folders_name_is_not_followed(
    planted: Path, network_run: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "theirs").mkdir(0o700)
    planted.symlink_to(tmp_path / "theirs")
    again(network_run[0], planted)
    assert list((tmp_path / "theirs").iterdir()) == []


def test_a_folder_that_others_may_enter_is_not_used(
    planted: Path, network_run: tuple[Path, Path]
) -> None:
    planted.mkdir()
    planted.chmod(0o755)
    again(network_run[0], planted)
    assert list(planted.iterdir()) == []


def test_a_folder_of_somebody_else_is_not_used(
    planted: Path, network_run: tuple[Path, Path]
) -> None:
    planted.mkdir(0o700)
    try:
        os.chown(planted, 12345, -1)
    except PermissionError:
        pytest.skip("only root can give a folder away")
    again(network_run[0], planted)
    assert list(planted.iterdir()) == []


def test_a_place_where_others_can_rename_folders_is_not_used(
    planted: Path, network_run: tuple[Path, Path]
) -> None:
    planted.parent.chmod(0o777)
    again(network_run[0], planted)


def test_a_copy_of_a_run_does_not_take_the_records_of_the_original(
    network_run: tuple[Path, Path], tmp_path: Path
) -> None:
    run, place = network_run
    pid = ended_process()
    record(place, pid)
    copy = shutil.copytree(run, tmp_path / "copy")
    (sentence,) = local_folder.collect(str(copy))
    assert "still on" in sentence
    assert (place / f"proc-0-here-{pid}").exists()
    run.rename(tmp_path / "renamed")
    assert local_folder.collect(str(tmp_path / "renamed")) == []
    assert (tmp_path / "renamed" / f"proc-0-here-{pid}").exists()


def test_what_is_brought_home_is_not_written_through_links(
    network_run: tuple[Path, Path], tmp_path: Path
) -> None:
    run, place = network_run
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "log").write_text("theirs")
    (run / "sources").symlink_to(theirs)
    (run / "system.jsonl").symlink_to(theirs / "log")
    (place / "sources").mkdir()
    (place / "sources" / "abc").write_text("text")
    (place / "system.jsonl").write_text("{}\n")
    local_folder.collect(str(run))
    assert [path.name for path in theirs.iterdir()] == ["log"]
    assert (theirs / "log").read_text() == "theirs"
