"""`stepscope view`: who gets in, what can be asked, and that nothing else can be reached."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import needs
from build import MS, RunBuilder
from show.viewing import Viewer, viewer

pytestmark = needs.page
PATIENCE_S = 60.0


def small_run(path: Path, turns: int = 20, **info: Any) -> Path:
    run = RunBuilder(path)
    process = run.process(**info)
    code = process.code(file=process.file(text="x\n" * 9))
    end_ns = process.for_loop(process.loop(code, 4, 8), 10 * MS, [5 * MS] * turns)
    process.lines(code, 4, [(turns + 1, 0), (turns, turns * 5 * MS)])
    process.write(ended_ns=end_ns + MS)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    small_run(path / "one")
    small_run(path / "two & <three>", turns=30)
    (path / "no run").mkdir()
    (path / "secret.txt").write_text("secret")
    small_run(path.parent / f"{path.name} outside")
    (path / "link").symlink_to(path.parent / f"{path.name} outside")
    return path


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[Viewer]:
    with viewer(str(folder), cwd=folder) as started:
        yield started


# --- what it answers ------------------------------------------------------------------------------


def test_the_page_comes_with_a_policy_and_no_run_in_it(view: Viewer) -> None:
    answer = view.ask("/")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    told = answer.headers["content-security-policy"]
    assert "default-src 'none'" in told
    assert "connect-src 'self'" in told
    assert "frame-ancestors 'none'" in told
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert b'{"mode":"server"}' in answer.body


def test_a_folder_lists_its_runs_and_nothing_else(view: Viewer) -> None:
    listed = view.ask("/api/runs").json
    assert {run["id"] for run in listed["runs"]} == {"one", "two & <three>"}
    assert listed["is_single"] is False


def test_a_run_is_shown_whole(view: Viewer) -> None:
    assert view.run("one")["content"]["summary"]["steps"]["steps"] == 20
    assert view.run("two & <three>")["content"]["summary"]["steps"]["steps"] == 30


def test_tiles_are_cut_from_the_timeline(view: Viewer) -> None:
    answer = view.ask(f"/api/tile?run=one&from={40 * MS}&to={50 * MS}&width=100").json
    steps = next(lane for lane in answer["tile"]["lanes"] if lane["kind"] == "step")
    assert 2 <= len(steps["start"]) <= 4
    assert answer["version"] == view.run("one")["version"]


def test_a_tile_may_begin_before_the_recording(view: Viewer) -> None:
    answer = view.ask(f"/api/tile?run=one&from={-20 * MS}&to={50 * MS}&width=100").json
    assert answer["tile"]["from_ns"] == -20 * MS
    steps = next(lane for lane in answer["tile"]["lanes"] if lane["kind"] == "step")
    assert steps["start"][0] == 30 * MS  # the process started 20 ms before recording


def test_how_far_opening_a_run_is_can_be_asked(view: Viewer) -> None:
    view.run("one")
    assert view.ask("/api/progress?run=one").json == {
        "what": None,
        "seconds": 0.0,
        "trace_bytes": 0,
    }


def test_a_run_that_is_being_recorded_is_seen_to_grow(tmp_path: Path) -> None:
    path = small_run(tmp_path / "run", turns=12, status="running")
    with viewer(str(path), cwd=tmp_path) as view:
        name = view.ask("/api/runs").json["runs"][0]["id"]
        before = view.ask(f"/api/version?run={name}").json["version"]
        assert before == view.run(name)["version"]
        small_run(path, turns=40, status="running")
        after = view.ask(f"/api/version?run={name}").json["version"]
        assert after != before
        assert view.run(name)["content"]["summary"]["steps"]["steps"] == 40


# --- who gets in ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/run?run=one", "/nothing"])
@pytest.mark.parametrize("token", ["", "wrong", "é" * 32, "x" * 5000])
def test_without_the_token_nobody_gets_anything(view: Viewer, path: str, token: str) -> None:
    answer = view.ask(path, X_Stepscope_Token=token)
    assert answer.status == 403
    assert b"stepscope view" in answer.body
    assert b"one" not in answer.body.replace(b"token", b"")


def test_the_token_may_be_in_the_address(view: Viewer) -> None:
    path = view.address.partition(f":{view.port}")[2]
    assert view.ask(path, X_Stepscope_Token="").status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_another_name_than_the_machines_is_refused(view: Viewer, host: str) -> None:
    assert view.ask("/api/runs", Host=host).status == 421


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST", "[::1]:1"])
def test_the_machines_own_names_are_known(view: Viewer, host: str) -> None:
    assert view.ask("/api/runs", Host=host.format(port=view.port)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_there_is_only_reading(view: Viewer, method: str) -> None:
    assert view.ask("/api/runs", method=method).status == 405


# --- what cannot be reached -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["..", "../secret.txt", "%2e%2e", "/etc", "one/../..", "one%00", "link", "no%20run", ""],
)
@pytest.mark.parametrize("what", ["run", "version", "tile", "progress"])
def test_only_runs_of_the_folder_can_be_named(view: Viewer, what: str, name: str) -> None:
    answer = view.ask(f"/api/{what}?run={name}&from=0&to=1&width=1")
    assert answer.status == 404
    assert "no run" in answer.json["trouble"]


@pytest.mark.parametrize("path", ["/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "//etc"])
def test_files_are_not_served(view: Viewer, path: str) -> None:
    answer = view.ask(path)
    assert answer.status == 404
    assert b"secret" not in answer.body


@pytest.mark.parametrize(
    "query",
    ["", "from=a&to=b&width=c", "from=--1&to=5&width=9", "from=-&to=5&width=9",
     "from=5&to=5&width=9", "from=0&to=9&width=0", "from=0&to=9&width=-9", "from=5&to=-5&width=9",
     "from=0&to=99999999999999999999999&width=9", "from=٣&to=9&width=9"],
)  # fmt: skip
def test_tiles_that_make_no_sense_are_refused_in_words(view: Viewer, query: str) -> None:
    from urllib.parse import quote

    answer = view.ask(f"/api/tile?run=one&{quote(query, safe='=&-')}")
    assert answer.status == 404
    assert answer.json["trouble"]


@pytest.mark.parametrize(
    "sent",
    [b"\0\0\0\0\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET\r\n\r\n", b"\xff" * 70_000,
     b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /\xff\xfe?token=\xff HTTP/1.1\r\n\r\n",
     b"GET /api/run?" + b"a=b&" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_does_no_harm(view: Viewer, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", view.port), timeout=PATIENCE_S) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        said = connection.makefile("rb").read()
    assert b" 200 " not in said[:20]
    assert view.ask("/api/runs").status == 200


# --- its output -----------------------------------------------------------------------------------


def test_on_a_remote_machine_it_names_the_tunnel(folder: Path) -> None:
    far = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}
    with viewer(str(folder), cwd=folder, env=far) as started:
        tunnel = next(line for line in started.said if "ssh " in line)
        assert f"-L {started.port}:localhost:{started.port}" in tunnel


def view_once(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stepscope", "view", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.mark.parametrize("words", [(), ("secret.txt",), (".",)])
def test_without_a_run_it_says_so_and_ends(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "secret.txt").write_text("")
    ended = view_once(*words, cwd=tmp_path)
    assert ended.returncode == 2
    assert "run" in ended.stderr or "is not a readable trace" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_that_is_taken_is_reported(folder: Path, view: Viewer) -> None:
    ended = view_once(str(folder), "--port", str(view.port), cwd=folder)
    assert ended.returncode == 4
    assert "--port" in ended.stderr


def test_what_is_listed_is_strict_json(view: Viewer) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    json.loads(view.ask("/api/run?run=one").body, parse_constant=refuse)
