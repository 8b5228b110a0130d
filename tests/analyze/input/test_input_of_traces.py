"""What `show input` says of a trace, beside what the other views say of it."""

from pathlib import Path

import pytest

from small_traces import event, kernel, write_json
from stepscope.analyze.answers.input import input
from stepscope.analyze.answers.processes import processes
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.traces.foreign import load_any

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def trace(path: Path, *device: tuple[float, float]) -> Path:
    """Two steps of 1 ms that begin with a wait of 400 µs; kernels begin and last, in µs."""
    events = []
    for begin in (0.0, 1000.0):
        events += [
            event(f"ProfilerStep#{begin / 1000:.0f}", begin, 1000, "user_annotation"),
            event(LOADER, begin, 400, "user_annotation"),
            event("aten::mm", begin + 500, 100),
            *(kernel("gemm", begin + at, lasts) for at, lasts in device),
        ]
    return write_json(path, events)


def test_a_wait_beside_work_of_the_device_is_told_from_one_that_costs(tmp_path: Path) -> None:
    run = load_any(trace(tmp_path / "t.json", (300, 500)))
    answer, shown = input(run), steps(run)
    assert answer.loader is not None
    assert answer.loader.wait_ms == pytest.approx(0.4)
    assert [note for note in answer.notes if "works for 100 µs of the wait (10.0 %" in note]
    assert shown.breakdown is not None
    (part,) = (each for each in shown.breakdown if each.category == "Input")
    assert part.share == pytest.approx(answer.loader.share - 0.1)


@pytest.mark.parametrize("device", [(), ((500.0, 400.0),)], ids=["no device", "afterwards"])
def test_a_wait_that_nothing_hides_is_the_same_in_both(
    device: tuple[tuple[float, float], ...], tmp_path: Path
) -> None:
    answer = input(load_any(trace(tmp_path / "t.json", *device)))
    assert not [note for note in answer.notes if "The device works" in note]


def test_what_another_tool_cost_is_not_known(tmp_path: Path) -> None:
    run = load_any(trace(tmp_path / "t.json", (300, 500)))
    assert [row.overhead_share for row in processes(run).processes] == [None]
    assert steps(run).overhead is None
