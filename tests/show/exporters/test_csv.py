"""CSV as in RFC 4180: a CSV reader reads back what was written, whatever the names."""

import csv
import io
import json
import resource
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import MS, RunBuilder
from show.exporters.recorded import STEPS, shown, stepscope
from stepscope.analyze.run import load
from stepscope.show.exporters import csv as exporter
from stepscope.store.format import SpanCategory

HOSTILE = [
    'say "hi"',
    "a,b;c",
    "two\nlines",
    "\r\n",
    "\r",
    "nothing\0inside",
    " blank ",
    "",
    '"',
    "naïve – 数据 🐍",
    "=1+1",
    "null",
]


def read(content: bytes) -> list[dict[str, str]]:
    """With Python's own reader, strict about quotes."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    return list(csv.DictReader(text, strict=True))


def encoded(texts: list[str | None]) -> bytes:
    numbers = polars.Series("number", range(len(texts)), dtype=polars.Int64)
    return exporter.encode(polars.DataFrame([polars.Series("text", texts, polars.String), numbers]))


@given(st.lists(st.text()))
def test_any_text_is_read_back(texts: list[str]) -> None:
    assert read(encoded(list(texts))) == [
        {"text": text, "number": str(number)} for number, text in enumerate(texts)
    ]


def test_lines_end_as_the_rfc_says_and_unknown_is_not_empty_text() -> None:
    assert encoded([None, "", 'a"b']) == b'text,number\r\n,0\r\n"",1\r\n"a""b",2\r\n'


def test_lists_are_json() -> None:
    table = polars.DataFrame({"argv": [["a", 'b "c"'], [], None], "pid": [1, 2, 3]})
    (first, second, third) = read(exporter.encode(table))
    assert json.loads(first["argv"]) == ["a", 'b "c"']
    assert json.loads(second["argv"]) == []
    assert third["argv"] == ""


def test_names_of_every_kind_survive(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    process = builder.process(argv=HOSTILE)
    for number, name in enumerate(HOSTILE):
        code = process.code(name, file=process.file(f"/{name}.py"), first_line=number + 1)
        process.lines(code, number + 1, [(1, len(HOSTILE) - number)])
        if name:  # a region always has a name
            process.span(SpanCategory.REGION, number * MS, number * MS + MS, name=name)
    process.write()
    files = dict(exporter.export(load(builder.path)))
    lines = read(files["lines.csv"])
    assert [row["function"] for row in lines] == HOSTILE
    assert [row["file"] for row in lines] == [f"/{name}.py" for name in HOSTILE]
    assert {row["name"] for row in read(files["regions.csv"])} == {*HOSTILE} - {""}
    assert [json.loads(row["argv"]) for row in read(files["processes.csv"])] == [HOSTILE]


# --- a recorded run ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported(recorded: Path) -> Path:
    said = stepscope("export", "run", "--to", "csv", folder=recorded)
    assert said == "Wrote run-csv. Open it with: pandas.read_csv('run-csv/lines.csv')\n"
    return recorded / "run-csv"


def table(exported: Path, name: str) -> list[dict[str, str]]:
    return read((exported / f"{name}.csv").read_bytes())


def flat(row: dict[str, Any]) -> dict[str, str]:
    """A row of the JSON as a row of the file: records flattened, lists of records left out."""
    fields: dict[str, str] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            fields |= flat(value)
        elif isinstance(value, list):
            if name in ("argv", "notes"):
                fields[name] = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        else:
            fields[name] = spelled(value)
    return fields


def spelled(value: Any) -> str:
    return "" if value is None else json.dumps(value) if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("view", ["functions", "regions", "processes"])
def test_every_row_of_the_json_is_there(recorded: Path, exported: Path, view: str) -> None:
    expected = [flat(row) for row in shown(view, folder=recorded)[view]]
    assert len(expected) > 0
    found = table(exported, view)
    numbers = {name for name in found[0] if name.endswith("share")}
    for row in (*expected, *found):  # two ways to spell the same number
        row.update({name: str(float(row[name])) for name in numbers if row[name]})
    assert found == expected


def test_every_file_that_was_opened_is_there(recorded: Path, exported: Path) -> None:
    expected = shown("files", folder=recorded)["files"]
    assert [(row["path"], row["opens"], row["total_ns"]) for row in table(exported, "files")] == [
        (row["path"], str(row["opens"]), str(row["total_ns"])) for row in expected
    ]
    assert 'loss, of "the" run.txt' in {row["path"] for row in table(exported, "files")}


def test_every_step_is_there_with_its_phases(recorded: Path, exported: Path) -> None:
    each = shown("steps", "--each", folder=recorded)["each"]
    assert len(each) == STEPS
    found = table(exported, "steps")
    assert [int(row["step"]) for row in found] == list(range(1, STEPS + 1))
    for row, step in zip(found, each, strict=True):
        assert int(row["start_ns"]) == step["start_ns"]
        assert int(row["duration_ns"]) == step["duration_ns"]
        assert row["measured"] == spelled(step["measured"])
        phases = {name: ns for name, ns in row.items() if f"{name}"[:-3] in step["phases"]}
        assert {name[:-3]: int(ns) for name, ns in phases.items()} == step["phases"]


def test_every_line_is_there(recorded: Path, exported: Path) -> None:
    names = ("line", "hits", "ns", "source")
    assert [
        [row["function"], *(row[name] for name in names)] for row in table(exported, "lines")
    ] == [
        [function["function"], *(spelled(line[name]) for name in names)]
        for function in shown("lines", folder=recorded)["functions"]
        for line in function["lines"]
    ]


def test_a_limit_on_the_size_of_files_leaves_the_earlier_export(
    recorded: Path, exported: Path
) -> None:
    before = {path.name: path.read_bytes() for path in exported.iterdir()}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    said = stepscope("export", "run", "--to", "csv", folder=recorded, status=4, preexec_fn=limit)
    assert (
        said == "stepscope: Cannot write 'run-csv': File too large. Name another folder with -o.\n"
    )
    assert {path.name: path.read_bytes() for path in exported.iterdir()} == before
    assert not [path for path in recorded.iterdir() if path.name.startswith(".stepscope")]


def test_a_folder_with_foreign_files_is_refused_in_one_line(recorded: Path) -> None:
    said = stepscope("export", "run", "--to", "csv", "-o", "run", folder=recorded, status=2)
    assert said.startswith("stepscope: 'run' exists and holds a file that no export wrote (")
    assert said.count("\n") == 1
