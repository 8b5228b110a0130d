"""What the viewer needs of a long run is kept with it, and used as long as it is valid."""

from pathlib import Path

import msgspec
import polars  # noqa: F401  # its first import changes the environment
import pytest

import needs
from build import MS, run_of_steps
from show.viewing import viewer
from stepscope.analyze.answers.run_version import run_version
from stepscope.analyze.run import load
from stepscope.analyze.timeline.run_timeline import MOST_IN_A_ROW, run_timeline
from stepscope.show.report.content import content
from stepscope.show.report.file import write_report
from stepscope.show.report.kept import View, keep, kept
from stepscope.show.report.page import encoded

LONG = MOST_IN_A_ROW + 500


def steps_of(path: Path, turns: int, **info: str) -> Path:
    return run_of_steps(path, turns, is_supervised=True, **info)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keep_all(path: Path) -> None:
    run = load(path)
    keep(path, run_version(path), content(run), run_timeline(run))


def found(path: Path) -> View | None:
    return kept(path, run_version(path))


def test_it_is_found_as_it_was_kept(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", LONG)
    told, timeline = content(load(path)), run_timeline(load(path))
    keep(path, run_version(path), told, timeline)
    view = found(path)
    assert view is not None
    assert view.content == encoded(told)
    again = view.timeline()
    whole_ns = timeline.whole().to_ns
    for part in ((0, whole_ns, 500), (100 * MS, 120 * MS, 1000)):
        assert again.tile(*part) == timeline.tile(*part)
    assert again.whole() == timeline.whole()


def test_short_runs_are_not_worth_it(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", 20)
    keep_all(path)
    assert not (path / "tables").exists()
    assert found(path) is None


def test_a_run_that_changed_since_is_read_anew(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", LONG)
    keep_all(path)
    assert found(path) is not None
    steps_of(path, LONG + 5)
    assert found(path) is None


def test_a_run_of_another_name_is_another_run(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", LONG)
    keep_all(path)
    assert found(path.rename(tmp_path / "renamed")) is None


@pytest.mark.parametrize("name", ["view.json", "timeline.parquet", "timeline_flows.parquet"])
@pytest.mark.parametrize("harm", ["gone", "cut off", "rubbish"])
def test_what_is_damaged_is_not_there(tmp_path: Path, name: str, harm: str) -> None:
    path = steps_of(tmp_path / "run", LONG)
    keep_all(path)
    file = path / "tables" / name
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-7] if harm == "cut off" else b"\xff{")
    assert found(path) is None


def test_where_the_run_cannot_be_written_it_is_in_the_users_cache(
    tmp_path: Path, cache: Path
) -> None:
    path = steps_of(tmp_path / "run", LONG)
    (path / "tables").write_text("in the way")
    keep_all(path)
    assert list(cache.rglob("timeline.parquet"))
    assert found(path) is not None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path, cache: Path) -> None:
    path = steps_of(tmp_path / "run", LONG)
    (path / "tables").write_text("in the way")
    cache.write_text("in the way, too")
    keep_all(path)
    assert found(path) is None


@needs.page
def test_a_report_leaves_it_for_the_viewer(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", LONG)
    write_report(load(path), str(path / "report.html"))
    assert found(path) is not None
    assert not list((path / "tables").glob(".*"))


@needs.page
def test_the_viewer_keeps_it_and_takes_what_is_kept(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", LONG)
    with viewer(str(path), cwd=tmp_path) as server:
        first = server.run("run")
    view = path / "tables" / "view.json"
    fields = msgspec.json.decode(view.read_bytes())
    fields["content"]["verdict"] = "This was kept."
    view.write_bytes(msgspec.json.encode(fields))
    with viewer(str(path), cwd=tmp_path) as server:
        second = server.run("run")
        tile = server.ask(f"/api/tile?run=run&from={100 * MS}&to={120 * MS}&width=1000").json
    assert second["content"]["verdict"] == "This was kept."
    assert second["version"] == first["version"] == tile["version"]
    steps = next(lane for lane in tile["tile"]["lanes"] if lane["kind"] == "step")
    assert set(steps["lasted"]) == {2 * MS}


@needs.page
def test_the_viewer_does_not_keep_a_run_that_is_being_recorded(tmp_path: Path) -> None:
    path = steps_of(tmp_path / "run", LONG, status="running")
    (path / "supervisor.json").unlink()
    with viewer(str(path), cwd=tmp_path) as server:
        assert server.run("run")["is_running"]
    assert not (path / "tables").exists()
