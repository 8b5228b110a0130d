"""Every view counts time from one moment: when the first process of the run was started."""

from pathlib import Path

from build import BOOT_NS, MS, RunBuilder
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load
from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.model import ProcessMemory
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory


def with_a_late_worker(path: Path) -> list[ProcessMemory]:
    """A worker that is started 500 ms after the main process."""
    run = RunBuilder(path)
    main = run.process()
    for at_ms in (10, 400, 900):
        main.counter(Memory, at_ms * MS, resident_bytes=100)
    main.write(ended_ns=1000 * MS)
    started = main.info["process_start_realtime_ns"] + 500 * MS
    worker = run.process(101, role="worker", process_start_realtime_ns=started)
    worker.events.clear()
    worker.clock(520 * MS)
    worker.counter(Memory, 530 * MS, resident_bytes=50)
    worker.write(ended_ns=900 * MS)
    return memory(load(path)).processes


def test_a_worker_begins_on_the_chart_when_it_was_started(tmp_path: Path) -> None:
    main, worker = with_a_late_worker(tmp_path / "run")
    assert [each.at_ns - BOOT_NS for each in main.points] == [10 * MS, 400 * MS, 900 * MS]
    assert [each.at_ns - BOOT_NS for each in worker.points] == [530 * MS]


def test_memory_is_drawn_where_the_timeline_has_the_same_moment(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.span(SpanCategory.REGION, 300 * MS, 310 * MS, name="peak")
    process.counter(Memory, 300 * MS, resident_bytes=100)
    process.write(ended_ns=400 * MS)
    found = load(run.path)
    lanes = {lane.kind: lane for lane in run_timeline(found).whole().lanes}
    assert memory(found).processes[0].points[0].at_ns == lanes["region"].start[0]


def test_the_chart_reaches_the_peak_that_is_told(tmp_path: Path) -> None:
    """Memory may rise and fall between two measurements: the system keeps the most."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    for turn, (resident, peak) in enumerate([(100, 120), (110, 900), (105, 900), (130, 900)]):
        at_ns = turn * 10 * MS
        process.counter(Memory, at_ns, resident_bytes=resident, peak_bytes=peak)
    process.write()
    row = memory(load(run.path)).processes[0]
    assert row.peak_bytes == 900
    points = [((each.at_ns - BOOT_NS) // MS, each.resident_bytes) for each in row.points]
    assert points == [(0, 100), (5, 900), (10, 110), (20, 105), (30, 130)]
    assert (row.first_bytes, row.last_bytes) == (100, 130)


def test_a_peak_of_before_the_first_measurement_may_be_the_parents(tmp_path: Path) -> None:
    """What is forked keeps its parent's peak, though it never had that much itself."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    for turn, (resident, peak) in enumerate([(14, 227), (100, 227), (90, 227)]):
        process.counter(Memory, turn * 10 * MS, resident_bytes=resident, peak_bytes=peak)
    process.write()
    row = memory(load(run.path)).processes[0]
    assert row.peak_bytes == 100
    assert [each.resident_bytes for each in row.points] == [14, 100, 90]


def test_the_timeline_is_as_long_as_the_run(tmp_path: Path) -> None:
    """From the start of the process, before the recording, to what the supervisor saw."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 10 * MS, [10 * MS] * 20)
    process.write(ended_ns=230 * MS)
    run.supervisor(ended_ns=300 * MS)
    found = load(run.path)
    timeline = run_timeline(found).whole()
    assert (timeline.from_ns, timeline.whole_ns) == (0, BOOT_NS + 300 * MS)
    assert timeline.whole_ns == summary(found).wall_ns
    assert timeline.main_ns == BOOT_NS
