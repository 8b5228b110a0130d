"""Every verb on what is no trace, or a damaged one: 2 and a sentence, and no file of the user's is
lost or written over."""

import json
import os
from pathlib import Path

import pytest

from small_traces import event, kernel, write_json
from stepscope.cli import view
from stepscope.cli.main import main

Output = pytest.CaptureFixture[str]
NO_TRACES = {
    "empty.json": b"",
    "blank.json": b" \n",
    "words.json": b"hello",
    "number.json": b"42",
    "object.json": b'{"loss": [0.5, 0.4]}',
    "numbers.json": b"[1, 2, 3]",
    "nested.json": b"[" * 100_000,
    "wide.json": '{"traceEvents": []}'.encode("utf-16"),
    "random.json.gz": bytes(range(256)),
    "random.zip": b"PK\x03\x04" + bytes(range(100)),
    "random.xplane.pb": bytes(range(255, 0, -1)),
    "random.prof": bytes(range(200)),
    "random.lprof": bytes(range(200)),
    "random.pickle": bytes(range(200)),
    "train.py": b"print('an epoch')",
}
VERBS = (
    ["show", "{}"],
    ["show", "{}", "device"],
    ["compare", "{}", "{}"],
    ["export", "{}", "--to", "chrome"],
    ["import", "{}", "-o", "run"],
    ["view", "{}", "--no-browser"],
)


def trace(path: Path) -> Path:
    events = [event("ProfilerStep#1", 0, 100, "user_annotation"), kernel("gemm", 20, 50)]
    return write_json(path, [*events, event("ProfilerStep#2", 100, 100, "user_annotation")])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty; nothing is served from it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(view, "_serve", lambda application, listening: listening.close())
    return folder


def refused(words: list[str], path: str, capsys: Output) -> str:
    """What is said."""
    assert main([word.format(path) for word in words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("stepscope: '")
    return said.err


@pytest.mark.parametrize("name", NO_TRACES)
def test_what_is_no_trace_is_refused_by_every_verb(
    name: str, here: Path, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / name
    path.write_bytes(NO_TRACES[name])
    for words in VERBS:
        assert name in refused(words, str(path), capsys)
    assert not list(here.iterdir())
    assert path.read_bytes() == NO_TRACES[name]


@pytest.mark.parametrize("what", ["missing.json", "a folder", "a pipe", os.devnull])
def test_what_is_no_file_is_refused_by_every_verb(
    what: str, here: Path, tmp_path: Path, capsys: Output
) -> None:
    path = what if what == os.devnull else str(tmp_path / what)
    if what == "a folder":
        os.mkdir(path)
    if what == "a pipe":
        os.mkfifo(path)
    for words in VERBS:
        refused(words, path, capsys)
    assert not list(here.iterdir())


def test_an_empty_name_is_not_this_folder(here: Path, capsys: Output) -> None:
    """As in `stepscope show "$RUN" steps`, where RUN is not set."""
    trace(here / "a.pt.trace.json")
    for words in (["show", "", "steps"], ["compare", "", ""], ["export", "", "--to", "csv"]):
        assert main(words) == 2
        assert "The name of the run is empty" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.xplane.pb", "a.prof"])
def test_a_trace_is_no_script_to_try(name: str, here: Path, tmp_path: Path, capsys: Output) -> None:
    path = trace(tmp_path / name)
    assert "stepscope show" in refused(["try", "{}"], str(path), capsys)
    os.mkfifo(tmp_path / "pipe.py")
    refused(["try", "{}"], str(tmp_path / "pipe.py"), capsys)
    assert not list(here.iterdir())


def test_an_event_that_is_nested_too_deeply_costs_only_itself(
    here: Path, tmp_path: Path, capsys: Output
) -> None:
    deep = (
        '{"ph": "X", "name": "b", "ts": 1, "dur": 1, "args": '
        + '{"a":' * 50_000
        + "1"
        + "}" * 50_001
    )
    whole = json.loads(trace(tmp_path / "a.json").read_text())["traceEvents"]
    text = ",".join([*map(json.dumps, whole), deep])
    (tmp_path / "a.json").write_text(f'{{"traceEvents": [{text}]}}')
    assert main(["show", str(tmp_path / "a.json")]) == 0
    assert "1 event is damaged and left out" in capsys.readouterr().out


def test_a_name_that_is_no_text_can_be_imported(here: Path, tmp_path: Path, capsys: Output) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    trace(Path(path))
    assert main(["import", path, "-o", "run"]) == 0
    assert main(["show", "run", "--json"]) == 0
    assert r"\xff.json" in json.loads((here / "run" / "run.json").read_text())["imported_from"][0]


def test_an_import_does_not_make_room_with_what_it_keeps(here: Path, capsys: Output) -> None:
    assert main(["import", str(trace(here / "a.json")), "-o", "run"]) == 0
    (kept,) = (here / "run").glob("proc-*/trace*")
    assert main(["import", str(kept), "-o", "run", "--force"]) == 2
    assert "lies in 'run'" in capsys.readouterr().err
    assert kept.exists()


def test_what_is_written_is_not_what_it_is_made_of(here: Path, capsys: Output) -> None:
    path = trace(here / "a.json")
    content = path.read_bytes()
    os.symlink(path, here / "link.json")
    for words in (
        ["export", "a.json", "--to", "chrome", "-o", "a.json"],
        ["export", "a.json", "--to", "html", "-o", "link.json"],
        ["compare", "a.json", "a.json", "--html", "a.json"],
    ):
        assert main(words) == 2
        assert "is the trace itself" in capsys.readouterr().err
    assert path.read_bytes() == content
