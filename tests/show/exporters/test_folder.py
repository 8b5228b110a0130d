"""The folder of an export: written atomically, and never over other files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.errors import EnvironmentTrouble, InputError
from stepscope.show.exporters.folder import MANIFEST, write_folder


def export(*names: str) -> list[tuple[str, bytes]]:
    """As an exporter yields them, the manifest last."""
    rows = ", ".join(f'"{name}": 0' for name in names)
    manifest = f'{{"exported_by": "stepscope", "rows": {{{rows}}}}}'
    return [*((name, name.encode()) for name in names), (MANIFEST, manifest.encode())]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MANIFEST}


def test_the_folder_is_made_with_its_files_and_nothing_beside_it(tmp_path: Path) -> None:
    write_folder(str(tmp_path / "out"), export("a.csv", "b.csv"))
    assert contents(tmp_path / "out") == {"a.csv": b"a.csv", "b.csv": b"b.csv"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_earlier_export_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_folder(str(target), export("a.csv", "b.csv"))
    write_folder(str(target), export("a.csv", "c.csv"))
    assert contents(target) == {"a.csv": b"a.csv", "c.csv": b"c.csv"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_folder(f"{tmp_path}/out/", export("a.csv"))
    assert contents(tmp_path / "out") == {"a.csv": b"a.csv"}


def test_a_link_to_an_earlier_export_stays_a_link(tmp_path: Path) -> None:
    write_folder(str(tmp_path / "out"), export("a.csv"))
    (tmp_path / "link").symlink_to("out")
    write_folder(str(tmp_path / "link"), export("b.csv"))
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "out") == {"b.csv": b"b.csv"}


@pytest.mark.parametrize(
    ("foreign", "text"),
    [
        ("notes.txt", "mine"),
        ("a.csv", "mine"),
        (MANIFEST, '{"exported_by": "me", "rows": {"a.csv": 1}}'),
        (MANIFEST, "no JSON"),
        (MANIFEST, "[]"),
    ],
)
def test_a_folder_that_is_not_ours_is_refused_and_left_alone(
    tmp_path: Path, foreign: str, text: str
) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / foreign).write_text(text)
    with pytest.raises(InputError, match=f"holds a file that no export wrote \\('{foreign}'\\)"):
        write_folder(str(target), export("a.csv"))
    assert [path.name for path in target.iterdir()] == [foreign]
    assert (target / foreign).read_text() == text


def test_what_a_person_put_beside_our_files_is_not_removed(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_folder(str(target), export("a.csv"))
    (target / "plots.ipynb").write_text("work of a day")
    with pytest.raises(InputError, match=r"'plots\.ipynb'"):
        write_folder(str(target), export("a.csv"))
    assert (target / "plots.ipynb").read_text() == "work of a day"


def test_a_folder_under_the_name_of_one_of_our_files_is_not_ours(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_folder(str(target), export("a.csv"))
    (target / "a.csv").unlink()
    (target / "a.csv").mkdir()
    with pytest.raises(InputError, match=r"'a\.csv'"):
        write_folder(str(target), export("a.csv"))


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        write_folder(str(tmp_path / "out"), export("a.csv"))
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("place", ["missing/out", "file/out"])
def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentTrouble, match=rf"Cannot write '.*{place}': .*with -o\."):
        write_folder(str(tmp_path / place), export("a.csv"))


def test_when_an_export_fails_half_way_the_earlier_one_is_still_there(tmp_path: Path) -> None:
    def fails() -> Iterator[tuple[str, bytes]]:
        yield "a.csv", b"new"
        raise RuntimeError("half-way")

    target = tmp_path / "out"
    write_folder(str(target), export("a.csv"))
    with pytest.raises(RuntimeError):
        write_folder(str(target), fails())
    assert contents(target) == {"a.csv": b"a.csv"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
