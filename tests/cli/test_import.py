"""`stepscope import`, and traces in the place of a run: every verb takes them."""

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from small_traces import event, rank_trace, stacks_trace, write_json, write_pstats
from stepscope.analyze.run import newest_run
from stepscope.analyze.traces.foreign import load_any
from stepscope.cli.main import main
from stepscope.errors import NotATrace
from stepscope.importers.importer import importers

VERBS = (
    ("show", "{}"),
    ("show", "{}", "ops"),
    ("view", "{}", "--no-browser"),
    ("compare", "{}", "{}"),
    ("export", "{}", "--to", "html", "-o", "x"),
    ("export", "{}", "--to", "chrome", "-o", "x"),
    ("import", "{}", "-o", "x"),
)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["show", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """Rank 1 comes 300 us late to each collective, and its clock is 5 ms ahead."""
    folder = tmp_path / "ranks"
    folder.mkdir()
    rank_trace(folder / "a.json", 0)
    rank_trace(folder / "b.json", 1, late_us=300, clock_us=5_000)
    return folder


# --- a run folder ---------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["steps", "ops", "kernels", "device", "functions", "memory"])
def test_an_imported_trace_answers_like_the_trace(
    view: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stacks_trace(tmp_path / "stacks.json")
    content = json.loads(path.read_text())
    content["traceEvents"].append(event("ProfilerStep#1", 0, 100, "user_annotation"))
    content["traceEvents"].append(event("gemm", 5, 9, "kernel", pid=0, args={"device": 0}))
    path.write_text(json.dumps(content))
    assert main(["import", str(path), "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    before, after = asked(capsys, str(path), view), asked(capsys, str(tmp_path / "run"), view)
    assert _without_names(after) == _without_names(before)


def _without_names(answer: Any) -> Any:
    """The file is called trace.json in the run."""
    text = json.dumps(answer)
    return json.loads(text.replace("stacks.json", "trace.json"))


def test_an_imported_run_is_read_by_every_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(stacks_trace(tmp_path / "stacks.json"))]) == 0
    run = newest_run()
    assert "stacks" in run.name
    assert f"stepscope show stepscope-runs/{run.name}" in capsys.readouterr().err
    assert main(["show", str(run)]) == 0
    for file_format in ("pstats", "chrome"):
        assert main(["export", str(run), "--to", file_format, "-o", f"x.{file_format}"]) == 0
    assert stepscope.Run(run).functions().functions[0].function == "main"


def test_a_folder_that_holds_a_run_is_replaced_only_by_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, run = str(write_pstats(tmp_path / "a.prof")), str(tmp_path / "run")
    assert main(["import", trace, "-o", run]) == 0
    assert main(["import", trace, "-o", run]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["import", trace, "-o", run, "--force"]) == 0
    assert main(["import", run, "-o", f"{run}2"]) == 2
    assert "is a run already" in capsys.readouterr().err


def test_of_a_failed_import_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.prof").write_bytes(b"{(damaged")
    assert main(["import", str(tmp_path / "a.prof"), "-o", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()


def test_nothing_is_written_beside_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: Path
) -> None:
    monkeypatch.delenv("STEPSCOPE_REPORT", raising=False)
    assert main(["show", str(ranks)]) == 0
    assert sorted(path.name for path in ranks.iterdir()) == ["a.json", "b.json"]


def test_a_link_in_an_imported_run_is_not_followed(tmp_path: Path) -> None:
    trace = stacks_trace(tmp_path / "stacks.json")
    assert main(["import", str(trace), "-o", str(tmp_path / "run")]) == 0
    (kept,) = (tmp_path / "run").glob("proc-*/trace.json")
    kept.unlink()
    kept.symlink_to(trace)
    run = load_any(tmp_path / "run")
    assert any("is a link" in note for process in run.processes for note in process.notes)
    assert not run.processes[0].calls.is_recorded


# --- ranks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("imported", [False, True])
def test_a_folder_of_ranks_is_one_run_with_one_clock(
    imported: bool, ranks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if imported:
        assert main(["import", str(ranks), "-o", str(tmp_path / "run")]) == 0
        capsys.readouterr()
    run = str(tmp_path / "run") if imported else str(ranks)
    answer = asked(capsys, run, "ranks")
    first, second = answer["ranks"]
    assert (first["rank"], second["rank"]) == (0, 1)
    assert [first["step_ms"], second["step_ms"]] == pytest.approx([1.0, 1.0])
    assert [first["waiting_ms"], second["waiting_ms"]] == pytest.approx([0.3, 0.0])
    assert [first["own_ms"], second["own_ms"]] == pytest.approx([0.6, 0.9])
    assert answer["straggler"]["rank"] == 1
    assert answer["straggler"]["cost_ms"] == pytest.approx(0.3)
    (only,) = asked(capsys, run, "ranks", "--rank", "1")["ranks"]
    assert only == second
    assert asked(capsys, run, "steps", "--rank", "1")["steps"] == 6


def test_a_rank_is_known_by_the_name_of_its_file(tmp_path: Path) -> None:
    for rank in (0, 3):
        write_json(tmp_path / f"trace_rank{rank}.json", [event("aten::mm", 0, 10)])
    run = load_any(tmp_path)
    assert [process.info.rank for process in run.processes] == [0, 3]


def test_of_several_files_a_damaged_one_is_named_and_the_others_are_shown(
    ranks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = rank_trace(ranks / "c.json", 2)
    third.write_bytes(third.read_bytes()[:-300])
    assert main(["show", str(ranks), "ranks"]) == 0
    assert len(load_any(ranks).processes) == 3
    assert "c.json is cut off" in capsys.readouterr().out


# --- what is none ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words", VERBS, ids=lambda words: " ".join(words[:1] + words[2:]))
def test_what_is_no_trace_says_what_was_tried_in_every_verb(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("no trace")
    if words[0] == "view":
        from stepscope.show.report import bundle

        monkeypatch.setattr(bundle, "bundle", lambda: None)
    assert main([word.format("notes.txt") for word in words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "notes.txt' is not a readable trace. Tried: " in said.err
    assert all(each.label in said.err for each in importers())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_in_python_too(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no trace")
    with pytest.raises(NotATrace, match="Tried: "):
        stepscope.Run(tmp_path / "notes.txt")


def test_a_view_that_a_trace_has_nothing_for_names_those_that_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write_pstats(tmp_path / "a.prof"))
    assert main(["show", path, "ops"]) == 2
    assert "It has: summary, functions, processes." in capsys.readouterr().err
