"""How a line's time was spent, as the samples saw it."""

from pathlib import Path

from build import MS, RunBuilder
from stepscope.analyze.code.line_samples import line_samples
from stepscope.analyze.run import load
from stepscope.store.events import CpuTimes


def test_a_lines_time_is_its_own_in_calls_or_waiting(tmp_path: Path) -> None:
    """4 ms in line 3 itself on the CPU, then 6 ms in a library that line 5 called, asleep."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    path = "/home/ada/project/train.py"
    process.file(path)
    main = process.function("main", file=path)
    library = process.function("load", file="/usr/lib/python3.11/json/decoder.py")
    own, caller = process.node(main, line=3), process.node(main, line=5)
    process.sample(own, 0, 4 * MS)
    process.sample(process.node(library, caller, line=12), 4 * MS, 6 * MS)
    for at_ms, cpu_ms in ((0, 0), (4, 4), (10, 4)):
        process.counter(CpuTimes, at_ms * MS, process_ns=cpu_ms * MS, thread_ns=cpu_ms * MS)
    process.write(ended_ns=24 * MS)
    found = {each.line: each for each in line_samples(load(run.path))}
    assert set(found) == {3, 5}
    assert (found[3].own_ns, found[3].calls_ns, found[3].waiting_ns) == (4 * MS, 0, 0)
    assert (found[5].own_ns, found[5].calls_ns, found[5].waiting_ns) == (0, 6 * MS, 6 * MS)
    assert found[5].course == [0] * 7 + [15] + [0] * 16
