"""A full disk, a low limit, a folder that cannot be written: the training goes on."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import permissions
from asking import answer as shown
from clean_environment import environment
from robustness.running import record
from transparency.both import PATIENCE_S

EXPECTED = str(sum(sum(range(i)) for i in range(300))) + "\n" + str(50 * 51) + "\n"
NIGHTLY = pytest.mark.nightly


@contextmanager
def disk(place: Path, size_kb: int) -> Iterator[Path]:
    place.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(place)]
    mounted = subprocess.run(["mount", *options], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"only root may mount a small disk: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(params=[pytest.param(256, marks=NIGHTLY), 1024, pytest.param(2048, marks=NIGHTLY)])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with disk(tmp_path / "small", size_kb=request.param) as place:
        yield place


def test_a_full_disk_stops_the_recording_and_not_the_training(
    small_disk: Path, tmp_path: Path
) -> None:
    done = record(tmp_path, "fills_the_disk", "1500", run=small_disk / "run")
    assert (done.returncode, done.stdout) == (0, "done 1500\n"), done.stderr
    assert "no space" in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_a_disk_that_is_full_from_the_start_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with disk(tmp_path / "full", size_kb=64) as place:
        done = record(tmp_path, "fills_the_disk", "3", run=place / "run")
        assert (done.returncode, done.stdout) == (0, "done 3\n"), done.stderr
        assert "no space" in done.stderr.lower()
        assert "Traceback" not in done.stderr


@pytest.mark.may_lose
@pytest.mark.parametrize("what", ["file size", "descriptors", "memory", "threads", "locked memory"])
def test_a_script_that_starves_itself_goes_on(what: str, tmp_path: Path) -> None:
    starve(what, tmp_path)


# The kernel sends a signal for a file's size alone.
@pytest.mark.may_lose
@pytest.mark.parametrize(
    "what",
    [
        "file size",
        *(
            pytest.param(what, marks=NIGHTLY)
            for what in ("descriptors", "memory", "threads", "locked memory")
        ),
    ],
)
def test_a_script_that_starves_itself_goes_on_with_default_signals(
    what: str, tmp_path: Path
) -> None:
    starve(what, tmp_path, "default signals")


def starve(what: str, tmp_path: Path, *how: str) -> None:
    done = record(tmp_path, "starves_itself", what, *how)
    assert (done.returncode, done.stdout) == (0, EXPECTED), done.stderr
    assert "Traceback" not in done.stderr
    assert shown(tmp_path / "run", "steps")["steps"] > 0


@pytest.mark.parametrize("limit", ["-f 100", "-n 20", "-v 400000", "-s 1024"])
def test_a_low_limit_of_the_shell_is_no_harm(limit: str, tmp_path: Path) -> None:
    script = tmp_path / "work.py"
    script.write_text("print(sum(i * i for i in range(1000)))\n")
    words = [sys.executable, "-m", "stepscope", "run", "-o", "run", str(script)]
    done = subprocess.run(
        ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout) == (0, "332833500\n"), done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_folder_that_becomes_read_only_is_no_harm(tmp_path: Path) -> None:
    script = tmp_path / "work.py"
    script.write_text(
        "import os, shutil, sys\n"
        "shutil.rmtree(sys.argv[1])\n"
        "for i in range(200):\n"
        "    exec(compile(f'def f{i}():\\n    return {i}\\nf{i}()', __file__, 'exec'))\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    exec(compile('def child():\\n    return 1\\nchild()', __file__, 'exec'))\n"
        "    os._exit(5)\n"
        "print(os.waitpid(pid, 0)[1])\n"
    )
    run = tmp_path / "run"
    words = [sys.executable, "-m", "stepscope", "run", "-o", str(run), str(script), str(run)]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout) == (0, f"{5 << 8}\n"), done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_the_script_starts(
    tmp_path: Path,
) -> None:
    (tmp_path / "locked").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    with permissions.enforced():
        done = record(tmp_path, "fills_the_disk", "3", run=tmp_path / "locked" / "run")
    assert done.returncode == 4
    assert "locked" in done.stderr


def test_a_machine_without_proc_still_records(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("only root may hide /proc")
    inside = 'mount -t tmpfs tmpfs /proc && exec "$@"'
    words = [sys.executable, "-m", "stepscope", "run", "-o", "run"]
    script = tmp_path / "work.py"
    script.write_text("for i in range(50):\n    sum(range(400_000))\nprint('done')\n")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside, "sh", *words, str(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"/proc cannot be hidden here: {done.stderr.strip()}")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert shown(tmp_path / "run", "steps")["steps"] == 50
