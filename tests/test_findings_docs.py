"""Every finding has its page, and what a page advises does the same with less."""

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from stepscope.advise import rules
from stepscope.advise.findings import (
    DEVICE_RULES,
    HOST_TRACE_RULES,
    RULES,
    TRACE_RULES,
    id_of,
)

DOCS = Path(__file__).parent.parent / "docs"
FINDINGS = DOCS / "findings"
SECTIONS = ("## How we know", "## What to do")

ID_ROW = re.compile(r"^\| ([a-z0-9-]+(?: / [a-z0-9-]+)*) \|", re.MULTILINE)
EXAMPLE = re.compile(r"```python (before|after)\n(.*?)```", re.DOTALL)

# Runs a block in its own process and counts what it does. Lines and calls are the block's own;
# opened files are those of the folder it runs in.
OBSERVER = """
import collections, gc, json, os, pathlib, sys, tracemalloc

code = compile(sys.stdin.read(), "<block>", "exec")
seen = collections.Counter()
calls = collections.Counter()

def watch_opens(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and not os.path.isabs(arguments[0]):
        seen["opens"] += 1

def watch_lines(frame, event, argument):
    if frame.f_code.co_filename != "<block>":
        return None
    if event == "call":
        calls[frame.f_code.co_name] += 1
    seen["lines"] += event == "line"
    return watch_lines

def watch_collections(phase, about):
    seen["full_collections"] += phase == "start" and about["generation"] == 2
    seen["freed_by_collector"] += about.get("collected", 0)

sys.addaudithook(watch_opens)
gc.callbacks.append(watch_collections)
tracemalloc.start()
names = {"__name__": "__main__"}
sys.settrace(watch_lines)
exec(code, names)
sys.settrace(None)
seen["kept_bytes"] = tracemalloc.get_traced_memory()[0]
seen["written_bytes"] = sum(path.stat().st_size for path in pathlib.Path().iterdir())
seen["threads"] = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 0
print(json.dumps({**seen, "calls": calls, "result": names["result"]}))
"""


class Seen(msgspec.Struct, frozen=True):
    """What a block did."""

    result: object
    calls: dict[str, int]
    lines: int
    kept_bytes: int
    written_bytes: int
    threads: int
    opens: int = 0
    full_collections: int = 0
    freed_by_collector: int = 0


# Finding -> what the advice changes, counted, not timed.
CHANGES: dict[str, Callable[[Seen, Seen], bool]] = {
    "repeated-load": lambda before, after: (before.opens, after.opens) == (51, 2),
    "python-hot-loop": lambda before, after: before.lines > 50 * after.lines,
    "host-code": lambda before, after: before.lines > 10 * after.lines,
    "checkpoint-stall": lambda before, after: (before.opens, after.opens) == (100, 2),
    "logging-stall": lambda before, after: before.written_bytes > 100 * after.written_bytes,
    "evaluation-stall": lambda before, after: (
        (before.calls["evaluate"], after.calls["evaluate"]) == (100, 4)
    ),
    "gc-pressure": lambda before, after: before.freed_by_collector > 100 * after.freed_by_collector,
    "memory-growth": lambda before, after: before.kept_bytes > 10 * after.kept_bytes,
    "slow-outlier-steps": lambda before, after: before.full_collections > after.full_collections,
    "thread-oversubscription": lambda before, after: before.threads > after.threads,
}


def ids_of_the_design() -> list[str]:
    text = (DOCS / "design.md").read_text()
    table = text[text.index("| id | what it says |") :].partition("\n\n")[0]
    return [name for row in ID_ROW.findall(table)[1:] for name in row.split(" / ")]


def examples_of(finding: str) -> dict[str, str]:
    return dict(EXAMPLE.findall((FINDINGS / f"{finding}.md").read_text()))


def observed(source: str, folder: Path) -> Seen:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", OBSERVER],
        input=source,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return msgspec.convert(json.loads(done.stdout), type=Seen)


def ids_of_the_rules() -> dict[str, str]:
    """Each module with a `judge` is a rule: its name, and the finding that it reports. A rule for
    traces may leave that to the one for runs."""
    found = pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
    modules = {each.name: importlib.import_module(each.name) for each in found}
    names = {name: name.removeprefix(f"{rules.__name__}.") for name in modules}
    return {
        names[name]: getattr(module, "ID", id_of(names[name]))
        for name, module in modules.items()
        if hasattr(module, "judge")
    }


def test_every_rule_is_documented_and_every_documented_finding_has_a_rule() -> None:
    assert len(ids_of_the_design()) == len(set(ids_of_the_design()))
    assert set(ids_of_the_rules().values()) == set(ids_of_the_design())


def test_every_rule_is_asked_under_its_own_id() -> None:
    asked = {*RULES, *DEVICE_RULES, *TRACE_RULES, *HOST_TRACE_RULES}
    assert ids_of_the_rules() == {rule: id_of(rule) for rule in asked}


def test_every_finding_has_its_page_and_every_page_its_finding() -> None:
    pages = {path.stem for path in FINDINGS.glob("*.md")} - {"README"}
    assert pages == set(ids_of_the_design())


@pytest.mark.parametrize("finding", ids_of_the_design())
def test_a_page_says_how_we_know_and_what_to_do(finding: str) -> None:
    text = (FINDINGS / f"{finding}.md").read_text()
    assert text.startswith(f"# {finding}\n")
    assert [section for section in SECTIONS if section not in text] == []
    assert len(re.findall(r"^```python( before|\n# before)", text, re.MULTILINE)) >= 1
    assert len(re.findall(r"^```python( after|\n# after)|^# after$", text, re.MULTILINE)) >= 1


def test_the_index_leads_to_every_page() -> None:
    linked = re.findall(r"\]\(([a-z0-9-]+)\.md\)", (FINDINGS / "README.md").read_text())
    assert sorted(linked) == sorted(ids_of_the_design())


def test_every_example_that_can_run_is_run() -> None:
    assert {name for name in ids_of_the_design() if examples_of(name)} == set(CHANGES)


@pytest.mark.parametrize("finding", CHANGES)
def test_the_advice_gives_the_same_result_with_less(finding: str, tmp_path: Path) -> None:
    examples = examples_of(finding)
    before = observed(examples["before"], tmp_path / "before")
    after = observed(examples["after"], tmp_path / "after")
    assert before.result == after.result
    assert CHANGES[finding](before, after), (before, after)
