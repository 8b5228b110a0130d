"""Names are text: no control sequence and no mark of direction from a run reaches a terminal."""

import io
import json
import re
import shutil
from pathlib import Path

import msgspec
import polars  # noqa: F401  it sets a variable of the environment when it is first imported
import pytest
from rich.text import Text

from show.hostile import HALF, NAME, hostile_run, hostile_trace
from stepscope.cli.main import main
from stepscope.model.trial import Rung, TrialAnswer, TrialBaseline
from stepscope.run_object import Run
from stepscope.show.markdown import comparison_page
from stepscope.show.terminal.drawing.page import Terminal, page
from stepscope.show.terminal.ladder import ladder
from stepscope.spelled_out import json_spelled_out, spelled_out
from stepscope.views import every_view

FORBIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
IN_A_PATH = "\x1b]0;title\x07\x9b31m\x7f\r\u202e\u2066\u200f"  # as a path can hold it
VIEWS = [view.name for view in every_view()]
OF_TRACES = [view.name for view in every_view() if view.takes_traces]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_run(tmp_path_factory.mktemp("runs") / f"run{IN_A_PATH}")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_trace(tmp_path_factory.mktemp("traces") / f"trace{IN_A_PATH}.json")


def said(capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> str:
    """stdout and stderr of a command, which must be harmless."""
    main(words)
    out, err = capfdbinary.readouterr()
    text = (out + err).decode("utf-8", "surrogateescape")
    found = FORBIDDEN.search(text)
    assert found is None, (found, text[max(0, found.start() - 40) : found.end() + 40])
    return text


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_a_run_is_harmless(
    view: str, run: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert said(capfdbinary, "show", str(run), view)
    assert said(capfdbinary, "show", str(run), view, "--json")


@pytest.mark.parametrize("view", OF_TRACES)
def test_every_view_of_a_trace_is_harmless(
    view: str, trace: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert said(capfdbinary, "show", str(trace), view)
    assert said(capfdbinary, "show", str(trace), view, "--json")


def test_names_are_spelled_out_where_they_stand(
    run: Path, trace: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert "\\u202e" in said(capfdbinary, "show", str(run), "regions")
    assert "\\u202e" in said(capfdbinary, "show", str(trace), "kernels", "--json")


def test_the_json_says_the_same_with_escapes(
    run: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    answer = json.loads(said(capfdbinary, "show", str(run), "regions", "--json"))
    assert NAME in [row["name"] for row in answer["regions"]]


def test_comparisons_are_harmless(
    run: Path, trace: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    other = shutil.copytree(run, tmp_path / f"other{IN_A_PATH}")
    for sides in ([run, other], [trace, trace], [run, other, other]):
        words = ["compare", *map(str, sides)]
        assert said(capfdbinary, *words)
        assert said(capfdbinary, *words, "--json")
        assert said(capfdbinary, *words, "--markdown")


@pytest.mark.parametrize(
    "words",
    [
        ["show", "{bad}"],
        ["show", "{bad}/x"],
        ["show", "--top", "{bad}"],
        ["-v", "show", "{bad}/x"],
        ["compare", "{bad}/x", "{bad}/y"],
        ["export", "{bad}/x", "--to", "csv"],
        ["view", "{bad}/x"],
        ["run", "{bad}.py"],
        ["try", "{bad}.py"],
        ["{bad}"],
    ],
)
def test_errors_that_quote_what_was_typed_are_harmless(
    words: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    bad = IN_A_PATH + "\udcff"  # a byte that is not UTF-8
    assert "\\x1b" in said(capfdbinary, *(word.format(bad=bad) for word in words))


def test_a_ladder_is_harmless() -> None:
    rung = Rung(
        fix=NAME, title=NAME, finding=NAME, status="failed", predicted=None, reason=NAME, what=NAME,
        patch=NAME, run=NAME,
    )  # fmt: skip
    baseline = TrialBaseline(
        step_ms=50.0, per_s=20.0, samples_per_s=None, steps=60, verdict=NAME, run=NAME
    )
    answer = TrialAnswer(
        folder=NAME, baseline=baseline, noise=None, rungs=[rung], runs=1, seconds=1.0,
        together=None, stopped=NAME, notes=[NAME],
    )  # fmt: skip
    out = io.StringIO()
    Terminal(file=out, width=100, highlight=False).print(ladder(answer))
    assert not FORBIDDEN.search(out.getvalue())
    assert "\\x1b" in out.getvalue()


def test_colours_are_ours_alone() -> None:
    out = io.StringIO()
    terminal = Terminal(file=out, force_terminal=True, color_system="standard", width=200)
    terminal.print(page([Text(NAME, style="red")]))
    assert out.getvalue().startswith("\x1b[31m")
    assert not FORBIDDEN.search(re.sub(r"\x1b\[\d*m", "", out.getvalue()))


def test_a_run_in_a_notebook_is_harmless(run: Path) -> None:
    assert not FORBIDDEN.search(repr(Run(run)))


# --- other formats --------------------------------------------------------------------------------


def test_collapsed_stacks_are_harmless(
    run: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    said(capfdbinary, "export", str(run), "--to", "collapsed", "-o", str(tmp_path / "stacks"))
    assert not FORBIDDEN.search((tmp_path / "stacks").read_text())


def test_markdown_has_no_tags_links_or_images_from_names(run: Path, tmp_path: Path) -> None:
    from stepscope.analyze.run import load
    from stepscope.compare.compare import compare

    answer = compare(load(run), load(run))
    text = comparison_page(
        msgspec.structs.replace(answer, verdict="<img src=x> ![a](b) ``` x", significant=True)
    )
    assert "**\\<img src=x> !\\[a\\](b)" in text
    assert not FORBIDDEN.search(text)


# --- the function itself --------------------------------------------------------------------------


def test_what_is_harmless_stays_as_it_is() -> None:
    for text in ("train.py", "a\tb\nc", "Straße — 日本語 😀", ""):
        assert spelled_out(text) == text


def test_halves_of_characters_are_spelled_out() -> None:
    assert spelled_out(f"a{HALF}\udcffb") == "a\\ud83d\\udcffb"


def test_one_line_stays_one_line() -> None:
    assert spelled_out("a\nb", lines=False) == "a\\nb"


def test_escaped_json_is_the_same_json() -> None:
    text = msgspec.json.encode({"name": NAME, "x": "é\x7f"})
    assert json.loads(json_spelled_out(text)) == json.loads(text)
    assert not FORBIDDEN.search(json_spelled_out(text).decode())
