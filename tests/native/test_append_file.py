"""The file of names: it only grows, whatever the script does with descriptors and limits."""

import os
import resource
import sys
import threading
from pathlib import Path

import pytest

from stepscope.native import _core


def test_what_is_appended_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "names"
    path.write_bytes(b"before\n")
    file = _core.AppendFile(str(path))
    assert file.append(b"one\n")
    assert file.append(b"two\n")
    assert path.read_bytes() == b"before\none\ntwo\n"
    file.close()
    assert not file.append(b"three\n")
    assert path.read_bytes() == b"before\none\ntwo\n"


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        _core.AppendFile(str(tmp_path / "nowhere" / "names"))


def test_a_descriptor_that_the_script_closed_is_opened_again(tmp_path: Path) -> None:
    path, other = tmp_path / "names", tmp_path / "other"
    before = set(os.listdir("/proc/self/fd"))
    file = _core.AppendFile(str(path))
    (number,) = (int(fd) for fd in set(os.listdir("/proc/self/fd")) - before if int(fd) >= 400)
    os.close(number)
    with other.open("wb") as scripts:
        os.dup2(scripts.fileno(), number)  # and it is the script's by now
        try:
            assert file.append(b"one\n")
        finally:
            os.close(number)
    assert path.read_bytes() == b"one\n"
    assert other.read_bytes() == b""
    file.close()


def test_the_limit_of_a_files_size_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "names"
    file = _core.AppendFile(str(path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
    try:
        assert file.append(b"12345678")
        assert not file.append(b"9")  # without SIGXFSZ
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"12345678"


def test_no_other_thread_runs_meanwhile(tmp_path: Path) -> None:
    """A dump of all threads' stacks does not find ours in the middle of naming."""
    file = _core.AppendFile(str(tmp_path / "names"))
    counted, is_over = [0], threading.Event()

    def count() -> None:
        while not is_over.is_set():
            counted[0] += 1

    def lets_it_run() -> bool:
        was = counted[0]
        for _ in range(1000):
            file.append(b"a name\n")
            if counted[0] != was:
                return True
        return False

    before = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        sys.setswitchinterval(1)
        # It may have asked for the GIL before that took effect: then the next time shows it.
        assert not all(lets_it_run() for _ in range(3))
    finally:
        sys.setswitchinterval(before)
        is_over.set()
        thread.join()
