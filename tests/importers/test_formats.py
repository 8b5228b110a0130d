"""Which importer a file is given to, and the message if none takes it."""

import gzip
from pathlib import Path

import pytest

from stepscope.errors import DataError
from stepscope.importers import importer as formats
from stepscope.importers.importer import Importer, endings, importer_of, register
from stepscope.importers.trace import Trace
from xplane_writer import PlaneWriter, write

KINETO = b'{"schemaVersion": 1, "traceEvents": []}'


def label(path: Path) -> str:
    return importer_of(path).label


def xplane(path: Path) -> bytes:
    return write(path, PlaneWriter("/host:CPU")).read_bytes()


def test_a_name_decides_also_for_a_damaged_file(tmp_path: Path) -> None:
    for name, expected in (("a.json.gz", "torch"), ("b.xplane.pb", "xplane")):
        (tmp_path / name).write_bytes(b"damaged")
        assert expected in label(tmp_path / name)


@pytest.mark.parametrize("zipped", [False, True])
def test_without_a_known_ending_the_content_decides(tmp_path: Path, zipped: bool) -> None:
    contents = {"torch": b"\n" + KINETO, "xplane": xplane(tmp_path / "x.xplane.pb")}
    for expected, content in contents.items():
        path = tmp_path / f"{expected}.trace"
        path.write_bytes(gzip.compress(content) if zipped else content)
        assert expected in label(path)


def test_an_unknown_file_says_what_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no trace")
    with pytest.raises(DataError, match=r"Tried: .*json.*xplane"):
        importer_of(path)
    with pytest.raises(DataError, match="cannot be read"):
        importer_of(tmp_path / "absent.txt")


def test_a_format_enters_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_entered", formats.importers())

    @register
    class Other(Importer):
        label = "another tool's file"
        endings = (".other",)

        def recognises(self, head: bytes) -> bool:
            return head.startswith(b"other")

        def read(self, path: Path) -> Trace:
            pytest.fail("nothing was read yet")

    path = tmp_path / "trace"
    path.write_bytes(b"other: 1")
    assert isinstance(importer_of(path), Other)
    assert isinstance(importer_of(tmp_path / "a.other"), Other)
    assert ".other" in endings()
