"""The machine, from look to look."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stepscope.launch.nvml import Devices
from stepscope.launch.system import SystemLog, cpu_used_ns
from stepscope.launch.waiting_threads import waited_ns

# Two devices; the second one does not report its utilisation.
FAKE_NVML = """
#include <stdio.h>
typedef struct { unsigned gpu, memory; } use_t;
typedef struct { unsigned long long total, free, used; } memory_t;
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{ *device = (void *)(long)(0x100000000 + index); return 0; }
int nvmlDeviceGetUtilizationRates(void *device, use_t *use)
{ use->gpu = 75; return device == (void *)0x100000001 ? 3 : 0; }
int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory)
{ memory->total = 1000; memory->used = 10 + ((long)device & 1); return 0; }
int nvmlDeviceGetName(void *device, char *name, unsigned size)
{ snprintf(name, size, "Device %ld", (long)device & 1); return 0; }
"""


class Clock:
    """Moves only when told to."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def rows(folder: Path) -> int:
    return len((folder / "system.jsonl").read_text().splitlines())


def test_there_are_five_looks_a_second_then_one_and_later_one_every_ten(tmp_path: Path) -> None:
    clock = Clock()
    log = SystemLog(str(tmp_path), clock)
    for quarter in range(80):
        clock.now_s = quarter / 4
        log.look_if_due()
        log.look_if_due()
    assert rows(tmp_path) == 80
    assert log.due_s() == pytest.approx(0.2)
    for now_s in range(20, 600):
        clock.now_s = now_s
        log.look_if_due()
    assert rows(tmp_path) == 80 + 580
    assert log.due_s() == 1.0
    for now_s in range(600, 700):
        clock.now_s = now_s
        log.look_if_due()
    assert rows(tmp_path) == 80 + 580 + 10


def test_the_end_is_looked_at_too(tmp_path: Path) -> None:
    log = SystemLog(str(tmp_path), Clock())
    log.look_if_due()
    log.close()
    assert rows(tmp_path) == 2


def test_a_look_has_what_a_comparison_needs(tmp_path: Path) -> None:
    SystemLog(str(tmp_path), Clock()).look()
    facts = json.loads((tmp_path / "system.jsonl").read_text())
    assert facts.keys() == {
        "realtime_ns",
        "monotonic_ns",
        "load",
        "cpu_ns",
        "container_cpu_ns",
        "memory_available_bytes",
        "container_memory_bytes",
        "container_limit_bytes",
        "devices",
        "waited_ns",
    }
    assert facts["load"] >= 0
    assert facts["memory_available_bytes"] > 0
    assert facts["cpu_ns"] > 0


def test_what_all_programs_used_counts_on_the_cores_that_are_ours(tmp_path: Path) -> None:
    """user, nice, system, irq, softirq and steal; not idle, waiting for a disk, or guests twice."""
    ours, not_ours = min(os.sched_getaffinity(0)), 4095
    row = "1 2 4 1000 1000 8 16 32 1000 1000"
    (tmp_path / "stat").write_text(f"cpu  9 9 9\ncpu{ours} {row}\ncpu{not_ours} {row}\nintr 5 7\n")
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert cpu_used_ns(str(tmp_path / "stat")) == 63 * tick_ns
    assert cpu_used_ns(str(tmp_path / "missing")) is None


def test_a_folder_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    log = SystemLog(str(tmp_path / "gone"), Clock())
    log.look()
    log.close()


def test_a_machine_without_the_library_has_no_devices() -> None:
    assert Devices("libno-such-library.so").read() == []


def test_devices_report_what_they_know(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build a stand-in for the library")
    (tmp_path / "nvml.c").write_text(FAKE_NVML)
    library = str(tmp_path / "nvml.so")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, str(tmp_path / "nvml.c")], check=True
    )
    devices = Devices(library)
    assert devices.read() == [
        {
            "index": 0,
            "name": "Device 0",
            "utilisation_share": 0.75,
            "memory_used_bytes": 10,
            "memory_total_bytes": 1000,
        },
        {
            "index": 1,
            "name": "Device 1",
            "utilisation_share": None,
            "memory_used_bytes": 11,
            "memory_total_bytes": 1000,
        },
    ]
    devices.close()
    assert devices.read() == []


def test_all_threads_of_the_script_and_its_children_are_counted(tmp_path: Path) -> None:
    for process, thread, waited, children in ((5, 5, 10, "7 "), (5, 6, 20, ""), (7, 7, 40, "")):
        folder = tmp_path / str(process) / "task" / str(thread)
        folder.mkdir(parents=True)
        (folder / "schedstat").write_text(f"1000 {waited} 3\n")
        (folder / "children").write_text(children)
    assert waited_ns(5, str(tmp_path)) == {"5": 30, "7": 40}
    assert waited_ns(8, str(tmp_path)) == {}


def test_a_look_has_how_long_the_scripts_threads_waited(tmp_path: Path) -> None:
    SystemLog(str(tmp_path), Clock(), pid=os.getpid()).look()
    facts = json.loads((tmp_path / "system.jsonl").read_text())
    assert facts["waited_ns"][str(os.getpid())] > 0
