"""Memory that grows: when it is reported, where it stands among the findings, and what it says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from build import MS, START_NS, RunBuilder
from clean_environment import environment
from nights import nightly_but
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import Finding, FindingsAnswer
from stepscope.store import format as fmt
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory

PROGRAMS = Path(__file__).parents[2] / "programs"
STEPS = 200
MB = 2**20
SOURCE = """\
def train(batches, kept, loss):
    for batch in batches:
        loss = learn(batch, loss)
        {line}
        shown = report(loss)
"""
KEEPS, REPORTS = 4, 5


class Made:
    """200 steps of 10 ms. `grows`: bytes a step. `reports_ms`: in a line that trains nothing."""

    def __init__(
        self, path: Path, grows: float, line: str = "kept.append(loss)", reports_ms: int = 0,
        until: int = STEPS,
    ) -> None:  # fmt: skip
        self.run = RunBuilder(path)
        self.process = process = self.run.process()
        code = process.code(file=process.file(text=SOURCE.format(line=line)))
        process.for_loop(process.loop(code, 2, 5), 0, [10 * MS] * STEPS)
        learns = (STEPS, STEPS * (10 - reports_ms) * MS)
        reports = (STEPS, STEPS * reports_ms * MS)
        process.lines(code, 2, [(STEPS + 1, 0), learns, (STEPS, 0), reports])
        function = process.function("train")
        learn, report = process.node(function, 0, 3), process.node(function, 0, REPORTS)
        for step in range(STEPS):
            at, own = step * 10 * MS, 10 - reports_ms
            process.sample(learn, at - MS // 2, own * MS, count=own)
            if reports_ms:
                process.sample(report, at + own * MS - MS // 2, reports_ms * MS, count=reports_ms)
            resident = int(200 * MB + min(step, until) * grows)
            process.counter(Memory, at + MS, resident_bytes=resident, peak_bytes=resident)

    def free_at_the_end(self, **facts: int) -> "Made":
        at = {"monotonic_ns": START_NS + (STEPS - 1) * 10 * MS}
        (self.run.path / fmt.SYSTEM_FILE).write_text(json.dumps(at | facts) + "\n")
        return self

    def collects(self, step: int, generation: int) -> None:
        """Garbage in cycles."""
        at_ns = step * 10 * MS + MS
        self.process.span(
            SpanCategory.GC, at_ns, at_ns + MS // 10, generation=generation, freed_objects=900
        )

    def judged(self) -> FindingsAnswer:
        self.process.write()
        return findings(load(self.run.path))

    def growth(self) -> Finding | None:
        found = [each for each in self.judged().findings if each.id == "memory-growth"]
        return found[0] if found else None


def test_what_ends_the_job_within_a_day_comes_before_a_gain_of_some_per_cent(
    tmp_path: Path,
) -> None:
    made = Made(tmp_path / "run", MB, reports_ms=2)
    answer = made.free_at_the_end(memory_available_bytes=10_000 * MB).judged()
    assert [each.id for each in answer.findings] == ["memory-growth", "host-code"]
    assert [each.severity for each in answer.findings] == ["high", "medium"]
    assert "memory is full in 100 s at this rate" in answer.verdict
    assert f"train.py:{KEEPS}" in answer.verdict
    assert answer.findings[0].gain is None


def test_what_doubles_the_speed_comes_before_it(tmp_path: Path) -> None:
    answer = Made(tmp_path / "run", MB, reports_ms=6).judged()
    assert [each.id for each in answer.findings] == ["host-code", "memory-growth"]


def test_what_fills_the_memory_after_a_day_comes_after_a_gain_of_a_fifth(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", MB, reports_ms=2)
    answer = made.free_at_the_end(memory_available_bytes=9_000_000 * MB).judged()
    assert [each.id for each in answer.findings] == ["host-code", "memory-growth"]
    assert answer.findings[1].severity == "medium"


@pytest.mark.parametrize(("epochs", "found"), [(5, False), (1, True)])
def test_a_list_that_begins_anew_in_each_epoch_keeps_nothing(
    epochs: int, found: bool, tmp_path: Path
) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    text = (
        "def train():\n  for _ in epochs:\n    kept = []\n    for x in xs:\n      kept.append(x)\n"
    )
    code = process.code(file=process.file(text=text))
    process.for_loop(process.loop(code, 4, 5), 0, [10 * MS] * STEPS)
    hits = [(epochs + 1, 0), (epochs, 0), (STEPS + epochs, 0), (STEPS, STEPS * 10 * MS)]
    process.lines(code, 2, hits)
    for step in range(STEPS):
        resident = int(200 * MB + step * 0.1 * MB)
        process.counter(Memory, step * 10 * MS + MS, resident_bytes=resident, peak_bytes=resident)
    process.write()
    ids = [each.id for each in findings(load(run.path)).findings]
    assert ("memory-growth" in ids) is found


def test_cycles_that_no_older_collection_has_freed_yet_may_be_all_of_it(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", MB)
    for step in range(20, STEPS, 20):
        made.collects(step, generation=1)
    answer = made.judged()
    assert "memory-growth" not in [each.id for each in answer.findings]
    said = next(each.reason for each in answer.not_judged if each.id == "memory-growth")
    assert said.startswith("memory grows by 1.00 MiB a step, but the script makes reference cycles")


@pytest.mark.parametrize(("until", "found"), [(100, False), (STEPS, True)])
def test_beside_cycles_growth_is_what_goes_on_after_they_are_freed(
    until: int, found: bool, tmp_path: Path
) -> None:
    made = Made(tmp_path / "run", MB, until=until)
    for step in range(20, STEPS, 20):
        made.collects(step, generation=2 if step == 100 else 1)
    assert (made.growth() is not None) is found


@pytest.mark.parametrize(
    ("facts", "steps"),
    [
        ({"memory_available_bytes": 500 * MB}, "500"),
        (
            {
                "memory_available_bytes": 500 * MB,
                "container_memory_bytes": 700 * MB,
                "container_limit_bytes": 900 * MB,
            },
            "200",
        ),
    ],
)
def test_the_steps_left_are_those_of_what_was_free(
    facts: dict[str, int], steps: str, tmp_path: Path
) -> None:
    found = Made(tmp_path / "run", MB).free_at_the_end(**facts).growth()
    assert found is not None
    assert f"enough for {steps} more steps" in found.evidence[1]
    assert "1.00 MiB more in each of" in found.evidence[0]


@pytest.mark.parametrize(
    "line",
    [
        "kept.append(loss)",
        "kept.extend([loss])",
        "kept += [loss]",
        "kept = kept + [loss]",
        "kept = np.concatenate([kept, loss])",
        "self.kept.append(loss)",
    ],
)
def test_little_growth_counts_where_a_line_keeps_what_a_step_made(
    line: str, tmp_path: Path
) -> None:
    found = Made(tmp_path / "run", 0.1 * MB, line).growth()
    assert found is not None
    assert found.location is not None
    assert found.location.line == KEEPS


@pytest.mark.parametrize(
    "line",
    [
        "kept.append(loss.item())",
        "kept = [loss]",
        "kept[0] = loss",
        "log(kept, loss)",
        "now = perf_counter(); kept.append(now - self.last)",
    ],
)
def test_the_same_growth_without_such_a_line_may_be_the_allocator(
    line: str, tmp_path: Path
) -> None:
    assert Made(tmp_path / "little", 0.1 * MB, line).growth() is None
    much = Made(tmp_path / "much", MB, line).growth()
    assert much is not None
    assert much.location is None


# --- real programs --------------------------------------------------------------------------------


def recorded(folder: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", str(folder), *words]
    threads = environment({"OPENBLAS_NUM_THREADS": "1"})
    subprocess.run(command, check=True, capture_output=True, env=threads)
    show = [sys.executable, "-m", "stepscope", "show", str(folder), "findings", "--json"]
    answer: dict[str, Any] = json.loads(subprocess.check_output(show))
    return {each["id"]: each for each in answer["findings"]}


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("dictionary", "cache[step] = train(x)"),
        pytest.param("added", "history += [train(x)]", marks=pytest.mark.nightly),
        pytest.param(
            "concatenated", "seen = np.concatenate([seen, hidden])", marks=pytest.mark.nightly
        ),
        pytest.param("method", "self.outputs[step] = hidden.copy()", marks=pytest.mark.nightly),
    ],
)
def test_arrays_that_are_kept_are_found_with_their_line(
    kind: str, source: str, tmp_path: Path
) -> None:
    program = str(PROGRAMS / "advise" / "memory_kinds.py")
    found = recorded(tmp_path / "run", program, kind)["memory-growth"]
    assert found["source"].strip() == source
    assert found["severity"] == "high"


@pytest.mark.nightly
def test_a_buffer_that_will_not_fit_is_said_to_fill(tmp_path: Path) -> None:
    program = str(PROGRAMS / "advise" / "memory_kinds.py")
    found = recorded(tmp_path / "run", program, "replay")["memory-growth"]
    assert "10,000,000" in found["evidence"][-1]
    assert "bound" in found["fix"]


@pytest.mark.parametrize(
    "kind", nightly_but(["settles"], ["fits", "filled", "epochs", "settles", "numbers"])
)
def test_memory_that_only_seems_to_grow_is_no_finding(kind: str, tmp_path: Path) -> None:
    program = str(PROGRAMS / "advise" / "memory_kinds.py")
    assert "memory-growth" not in recorded(tmp_path / "run", program, kind)


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("outputs", "Outputs.keep"),
        pytest.param("graph", "graph", marks=pytest.mark.nightly),
        pytest.param("retained", "retained", marks=pytest.mark.nightly),
    ],
)
def test_tensors_that_are_kept_are_found(kind: str, function: str, tmp_path: Path) -> None:
    needs.require("torch")
    program = str(PROGRAMS / "torch" / "keeps_memory.py")
    found = recorded(tmp_path / "run", program, kind)["memory-growth"]
    assert found["location"]["function"] == function


@pytest.mark.nightly
def test_tensors_that_are_let_go_of_are_no_finding(tmp_path: Path) -> None:
    needs.require("torch")
    program = str(PROGRAMS / "torch" / "keeps_memory.py")
    assert "memory-growth" not in recorded(tmp_path / "run", program, "healthy")
