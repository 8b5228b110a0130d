"""Answers made by hand, one of each kind, that the view tests draw."""

from typing import Any, TypeVar

import msgspec

from stepscope.model import (
    Ending,
    FileRow,
    FilesAnswer,
    FunctionLines,
    LineRow,
    LinesAnswer,
    Location,
    MemoryAnswer,
    MemoryPoint,
    Overhead,
    Part,
    Process,
    ProcessMemory,
    Rate,
    RegionRow,
    RegionsAnswer,
    Share,
    Spread,
    Step,
    StepsAnswer,
    SummaryAnswer,
)
from stepscope.model.findings import Finding, FindingsAnswer, NotJudged, SlowStep, Speedup
from stepscope.model.processes import ProcessesAnswer, ProcessRow

Answer = TypeVar("Answer", bound=msgspec.Struct)

MAIN = Process(role="main", rank=None, pid=4711)
WORKERS = Process(role="worker", rank=None, pid=None)
GET_DATASET_SOURCE = [
    "def get_dataset(path):",
    '    """Everything, from the disk."""',
    "    archive = np.load(path)",
    "",
    "    images = archive['images']",
    "    return images, archive['labels']",
]


def line(
    number: int, hits: int, ns: int, source: str | None, *, likely_hits: int | None = None
) -> LineRow:
    """`likely_hits`: it was thinned out."""
    return LineRow(
        line=number,
        hits=hits,
        ns=ns,
        ops_ns=None,
        device_ns=None,
        alloc_bytes=None,
        estimated=likely_hits is not None,
        source=source,
        likely_hits=likely_hits,
    )


def share(category: str, part: float, ms: float, device_ms: float | None = None) -> Share:
    return Share(category=category, share=part, ms=ms, device_ms=device_ms)


STEPS = StepsAnswer(
    steps=60,
    warmup=5,
    measured=55,
    step_ms=Spread(mean=62.0, median=61.2, p10=60.1, p90=65.9),
    rate=Rate(per_s=16.1, samples_per_s=1032.0),
    breakdown=[
        share("files", 0.921, 57.1),
        share("python", 0.0677, 4.2),
        share("profiler", 0.0113, 0.7),
    ],
    bound="host",
    overhead=Overhead(share=0.0113, budget=0.03, thinned=[]),
    reason=None,
    anchor="the loop at train.py:58",
)

NO_STEPS = StepsAnswer(
    steps=0,
    warmup=None,
    measured=None,
    step_ms=None,
    rate=None,
    breakdown=None,
    bound=None,
    overhead=Overhead(share=0.002, budget=0.03, thinned=[]),
    reason="No steps found: no loop ran ten times. Mark the steps with stepscope.step().",
)

EACH_STEP = StepsAnswer(
    steps=3,
    warmup=1,
    measured=2,
    step_ms=Spread(mean=20.5, median=20.5, p10=20.1, p90=20.9),
    rate=Rate(per_s=48.8, samples_per_s=None),
    breakdown=[share("python", 1.0, 20.5)],
    bound=None,
    overhead=None,
    reason=None,
    each=[
        Step(
            start_ns=0,
            duration_ns=80_000_000,
            phases={"python": 80_000_000},
            measured=False,
            number=1,
        ),
        Step(
            start_ns=80_000_000,
            duration_ns=20_000_000,
            phases={"gc": 1_000_000, "python": 19_000_000},
            measured=True,
            number=2,
        ),
        Step(
            start_ns=100_000_000,
            duration_ns=21_000_000,
            phases={"python": 21_000_000},
            measured=True,
            number=3,
        ),
    ],
)

SUMMARY = SummaryAnswer(
    run="stepscope-runs/train-20260102-030405",
    command=["train.py", "--epochs", "1"],
    started="2026-01-02T03:04:05+00:00",
    ending=Ending(how="exited", exit_status=0, signal=None, words="ended with exit status 0"),
    wall_ns=5_300_000_000,
    parts=[
        Part(category="imports", ns=310_000_000, share=0.0585),
        Part(category="set-up", ns=1_200_000_000, share=0.2264),
        Part(category="steps", ns=3_720_000_000, share=0.7019),
        Part(category="evaluation", ns=0, share=0.0),
        Part(category="saving", ns=1_000_000, share=0.0002),
        Part(category="teardown", ns=69_000_000, share=0.013),
    ],
    steps=STEPS,
    hottest=[
        Location(file="train.py", line=32, function="get_dataset"),
        Location(file="layers/dense.py", line=7, function="Dense.forward"),
    ],
    hottest_ns=[3_400_000_000, 150_000_000],
    processes=1,
    notes=["The disk was full after 3.1 s: lines after that are missing."],
    has=["lines", "files"],
    hottest_source=[
        "    images = archive['images']",
        "        return x @ self.weights + self.bias",
    ],
)

LINES = LinesAnswer(
    functions=[
        FunctionLines(
            file="train.py",
            function="get_dataset",
            first_line=28,
            process=MAIN,
            total_ns=3_500_000_000,
            lines=[
                line(30, 60, 90_000_000, "    archive = np.load(path)"),
                line(32, 60, 3_400_000_000, "    images = archive['images']"),
                line(33, 60, 10_000_000, "    return images, archive['labels']"),
            ],
            calls=60,
            source=GET_DATASET_SOURCE,
        ),
        FunctionLines(
            file="train.py",
            function="Scaler.scale",
            first_line=40,
            process=MAIN,
            total_ns=400_000_000,
            lines=[
                line(42, 10_000, 300_000_000, "        for v in row:", likely_hits=60_000),
                line(43, 9_999, 100_000_000, None, likely_hits=59_940),
            ],
        ),
    ]
)

REGIONS = RegionsAnswer(
    regions=[
        RegionRow(
            name="batch",
            depth=0,
            parent=None,
            process=MAIN,
            calls=60,
            total_ns=3_600_000_000,
            self_ns=600_000_000,
            mean_ns=60_000_000,
            per_step_ns=60_000_000,
            share=0.968,
        ),
        RegionRow(
            name="augment",
            depth=1,
            parent="batch",
            process=MAIN,
            calls=120,
            total_ns=3_000_000_000,
            self_ns=3_000_000_000,
            mean_ns=25_000_000,
            per_step_ns=50_000_000,
            share=0.806,
        ),
    ]
)

FILES = FilesAnswer(
    files=[
        FileRow(
            path="data/digits.npz",
            opens=61,
            writing=False,
            steps=60,
            total_ns=3_500_000_000,
            estimated=False,
            location=Location(file="train.py", line=30, function="get_dataset"),
            process=MAIN,
        ),
        FileRow(
            path="loss.csv",
            opens=60,
            writing=True,
            steps=60,
            total_ns=1_200_000,
            estimated=True,
            location=None,
            process=MAIN,
        ),
    ],
    read_bytes=910_000_000,
    written_bytes=12_288,
)

MEMORY = MemoryAnswer(
    processes=[
        ProcessMemory(
            process=MAIN,
            first_bytes=30 * 2**20,
            peak_bytes=300 * 2**20,
            last_bytes=290 * 2**20,
            growth_bytes_per_step=1024.0,
            points=[
                MemoryPoint(at_ns=index * 10**9, resident_bytes=size * 2**20)
                for index, size in enumerate((30, 150, 300, 290))
            ],
        )
    ],
    machine_bytes=16 * 2**30,
    limit_bytes=None,
)

PROCESSES = ProcessesAnswer(
    processes=[
        ProcessRow(
            process=MAIN,
            parent_pid=4700,
            host="node7",
            argv=["train.py", "--epochs", "1"],
            wall_ns=5_300_000_000,
            cpu_ns=4_770_000_000,
            read_bytes=910_000_000,
            written_bytes=12_288,
            voluntary_switches=120,
            involuntary_switches=7,
            peak_bytes=300 * 2**20,
            threads=3,
            status="ended",
            overhead_share=0.011,
            notes=[],
        ),
        ProcessRow(
            process=WORKERS,
            parent_pid=4711,
            host="node7",
            argv=["train.py"],
            wall_ns=4_000_000_000,
            cpu_ns=None,
            read_bytes=None,
            written_bytes=None,
            voluntary_switches=None,
            involuntary_switches=None,
            peak_bytes=None,
            threads=1,
            status="killed",
            overhead_share=None,
            notes=["names.jsonl was cut off"],
        ),
    ]
)


def changed(answer: Answer, **fields: Any) -> Answer:
    """The same answer with other values in these fields."""
    return msgspec.structs.replace(answer, **fields)


FINDINGS = FindingsAnswer(
    verdict="71 % of step time re-reads digits.npz in get_dataset (train.py:16). Fixing it: "
    "about 3.45× faster (3.14–3.77×).",
    findings=[
        Finding(
            id="repeated-load",
            severity="high",
            title="digits.npz is re-read in every step",
            share=0.71,
            evidence=["digits.npz: opened 55 times in 55 of 55 measured steps.", "225 ms a step."],
            confidence="high: 55 measured steps, varying by 15 %",
            location=Location(file="train.py", line=16, function="get_dataset"),
            process=Process(role="main", rank=None, pid=4711),
            speedup=Speedup(expected=3.45, low=3.14, high=3.77),
            fix="Call get_dataset() once before the loop.",
            patch="--- train.py\n+++ train.py\n@@ -1,1 +1,2 @@\n+@functools.cache\n def get():\n",
            trial="cache-result",
            source="    with np.load(path) as data:",
            gain="3.45×",
        ),
        Finding(
            id="memory-growth",
            severity="medium",
            title="Memory grows by 2.00 MiB per step",
            share=0.0,
            evidence=["From 100 to 220 MiB."],
            confidence="low: only 12 measured steps, varying by 3 %; a longer run would say more",
            location=None,
            process=Process(role="main", rank=None, pid=4711),
            speedup=Speedup(expected=1.0, low=1.0, high=1.0),
            fix="Keep numbers and not tensors.",
            patch=None,
            trial=None,
        ),
    ],
    not_judged=[
        NotJudged(id="device-idle", reason="no device in this run"),
        NotJudged(id="small-batch", reason="no device in this run"),
    ],
    outliers=[
        SlowStep(step=17, duration_ms=90.4, usual_ms=28.5, why="garbage was collected", number=18)
    ],
)
