"""What the tick cache keeps, and what it survives."""

import os
import sys
from pathlib import Path
from types import CodeType

import pytest

if sys.version_info >= (3, 12):
    pytest.skip("ticks in the bytecode are Python 3.11's alone", allow_module_level=True)

from stepscope.record.bytecode import tick_cache
from stepscope.record.bytecode.instrument import instrument
from stepscope.record.bytecode.tick_cache import default_folder, instrument_cached, prune
from stepscope.record.bytecode.ticked import Instrumented

CODE = compile("def f(x):\n  for y in x:\n    yield [y]\nz = list(f('ab'))", "<cached>", "exec")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "stepscope" / "ticks-1"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[CodeType]:
    """The code that was instrumented, not taken from the cache."""
    seen: list[CodeType] = []

    def noted(code: CodeType) -> Instrumented:
        seen.append(code)
        return instrument(code)

    monkeypatch.setattr(tick_cache, "_instrumented", noted)
    return seen


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_the_second_time_comes_from_the_cache(folder: Path, made: list[CodeType]) -> None:
    first = instrument_cached(CODE, folder)
    second = instrument_cached(CODE, folder)
    assert made == [CODE]
    assert second.code == first.code
    assert second.original is CODE


def test_names_and_constants_are_the_originals_own(folder: Path) -> None:
    instrument_cached(CODE, folder)
    cached = instrument_cached(CODE, folder).code
    assert cached.co_name is CODE.co_name
    for ours, theirs in zip(cached.co_consts, CODE.co_consts, strict=False):
        assert ours is theirs or isinstance(theirs, CodeType)


def test_other_code_and_other_files_have_their_own_entries(
    folder: Path, made: list[CodeType]
) -> None:
    moved = CODE.replace(co_filename="elsewhere.py")
    shifted = compile("\n\nx = 1", "<cached>", "exec")
    for code in (CODE, moved, shifted):
        assert instrument_cached(code, folder).code.co_filename == code.co_filename
    assert made == [CODE, moved, shifted]
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("cut", [0, 1, 15, 16, 40, 48, 60, -1])
def test_a_truncated_file_is_made_anew(folder: Path, made: list[CodeType], cut: int) -> None:
    expected = instrument_cached(CODE, folder).code
    file = only_file(folder)
    file.write_bytes(file.read_bytes()[:cut])
    assert instrument_cached(CODE, folder).code == expected
    assert len(made) == 2
    instrument_cached(CODE, folder)
    assert len(made) == 2


def test_a_changed_byte_is_noticed(folder: Path, made: list[CodeType]) -> None:
    expected = instrument_cached(CODE, folder).code
    file = only_file(folder)
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    assert instrument_cached(CODE, folder).code == expected
    assert len(made) == 2


def test_an_entry_of_other_code_is_not_used(folder: Path, made: list[CodeType]) -> None:
    instrument_cached(compile("x = 1", "<other>", "exec"), folder)
    other = only_file(folder)
    os.replace(other, folder / str(tick_cache._key(CODE)))
    assert instrument_cached(CODE, folder).code == instrument(CODE).code
    assert len(made) == 2


def test_a_file_that_others_can_write_is_not_trusted(folder: Path, made: list[CodeType]) -> None:
    instrument_cached(CODE, folder)
    only_file(folder).chmod(0o666)
    instrument_cached(CODE, folder)
    assert len(made) == 2


def test_only_the_owner_can_read_and_write_entries(folder: Path) -> None:
    instrument_cached(CODE, folder)
    assert only_file(folder).stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    made = instrument_cached(CODE, tmp_path / "file" / "ticks-1")
    assert made.code == instrument(CODE).code


@pytest.mark.parametrize("home", ["", "relative/path"])
def test_without_a_home_there_is_no_default_folder(
    monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", "nowhere")
    assert default_folder() is None
    assert instrument_cached(CODE).code == instrument(CODE).code


def test_the_default_folder_follows_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = default_folder()
    assert folder is not None
    assert Path(folder).parent == tmp_path / "stepscope"
    instrument_cached(CODE)
    assert only_file(Path(folder)).is_file()


def test_the_oldest_entries_go_when_there_are_too_many(tmp_path: Path) -> None:
    for index in range(4):
        file = tmp_path / f"ticks-{index % 2}" / str(index)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x" * 100)
        os.utime(file, ns=(index, index))
    prune(tmp_path, bytes_at_most=250)
    assert sorted(file.name for file in tmp_path.glob("*/*")) == ["2", "3"]


def test_nothing_unfinished_is_left_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    instrument_cached(CODE, folder)
    assert list(folder.iterdir()) == []


def test_code_with_constants_of_the_program_s_own_is_not_kept(
    folder: Path, made: list[CodeType]
) -> None:
    own = object()
    odd = CODE.replace(co_consts=(*CODE.co_consts, own))
    assert own in instrument_cached(odd, folder).code.co_consts
    assert len(made) == 1
    assert not folder.exists()


def test_without_the_bytecode_package_code_stays_and_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("stepscope.record.bytecode.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bytecode", None)
    code = compile("x = 1", "train.py", "exec")
    found = instrument_cached(code, folder)
    assert found.code is code
    assert "bytecode" in found.skipped[0]


def test_code_runs_as_it_is_where_the_scripts_modules_hide_standard_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that the script put on the path later on; those beside it are seen at the start."""
    monkeypatch.setitem(sys.modules, instrument.__module__, None)
    code = compile("x = 1", "train.py", "exec")
    found = instrument_cached(code, folder)
    assert found.code is code
    assert found.skipped
