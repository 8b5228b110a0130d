"""samples.bin: stacks are shared, samples in a row are one record, and the file is never wrong."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.native import _core
from stepscope.native.reference import SampleRecorder
from stepscope.store import format as fmt

MAIN = ((1, 10), (2, 20))
DEEPER = ((1, 10), (2, 20), (3, 30))
NODE = fmt.SAMPLES_TAG | fmt.SamplesKind.NODE
SAMPLE, NATIVE = fmt.SamplesKind.SAMPLE, fmt.SamplesKind.NATIVE


def records(folder: Path) -> list[tuple[int, int, int] | list[int]]:
    """As the reference keeps them."""
    data = (folder / fmt.SAMPLES_FILE).read_bytes()
    used = fmt.HEADER.unpack_from(data)[4]
    found: list[tuple[int, int, int] | list[int]] = []
    for at in range(fmt.HEADER.size, used, fmt.NODE.size):
        tag, *fields = fmt.NODE.unpack_from(data, at)
        if tag == NODE:
            found.append((fields[0], fields[1], fields[2]))
        else:
            kind = fmt.SamplesKind(tag ^ fmt.SAMPLES_TAG)
            found.append([*fmt.SAMPLE.unpack_from(data, at)[1:], kind])
    return found


def test_a_stack_is_written_once_however_often_it_is_seen(folder: Path) -> None:
    for start in (100, 300, 500):
        assert _core.samples_feed(1, DEEPER, start, 7)
    nodes = [each for each in records(folder) if isinstance(each, tuple)]
    assert nodes == [(1, 0, 10), (2, 1, 20), (3, 2, 30)]


def test_samples_in_a_row_in_one_stack_are_one_record(folder: Path) -> None:
    for start in (100, 110, 120):
        _core.samples_feed(1, MAIN, start, 10)
    assert records(folder)[2:] == [[1, 2, 3, 100, 30, SAMPLE]]


def test_time_that_nobody_watched_is_not_filled_in(folder: Path) -> None:
    _core.samples_feed(1, MAIN, 100, 10)
    _core.samples_feed(1, MAIN, 500, 10)
    assert records(folder)[2:] == [[1, 2, 1, 100, 10, SAMPLE], [1, 2, 1, 500, 10, SAMPLE]]


def test_what_the_thread_did_there_separates_samples(folder: Path) -> None:
    for start, kind in ((100, SAMPLE), (110, NATIVE), (120, NATIVE)):
        _core.samples_feed(1, MAIN, start, 10, kind)
    assert records(folder)[2:] == [[1, 2, 1, 100, 10, SAMPLE], [1, 2, 2, 110, 20, NATIVE]]


def test_each_thread_has_its_own_samples(folder: Path) -> None:
    for start in (100, 110):
        _core.samples_feed(1, MAIN, start, 10)
        _core.samples_feed(2, MAIN, start, 10)
    assert records(folder)[2:] == [[1, 2, 2, 100, 20, SAMPLE], [2, 2, 2, 100, 20, SAMPLE]]


def test_the_same_function_at_another_line_is_another_node(folder: Path) -> None:
    _core.samples_feed(1, ((1, 10),), 100, 10)
    _core.samples_feed(1, ((1, 11),), 110, 10)
    assert records(folder) == [
        (1, 0, 10),
        [1, 1, 1, 100, 10, SAMPLE],
        (1, 0, 11),
        [1, 3, 1, 110, 10, SAMPLE],
    ]


STACKS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=6).map(
    tuple
)
KINDS = st.sampled_from([kind for kind in fmt.SamplesKind if kind != fmt.SamplesKind.NODE])
FEEDS = st.lists(st.tuples(st.integers(0, 3), STACKS, st.integers(1, 3), KINDS), max_size=60)


@given(FEEDS)
def test_the_core_and_the_reference_write_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, feeds: list[tuple[int, tuple[Any, ...], int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("samples")
    reference = SampleRecorder()
    _core.storage_open(str(folder), 2**20)
    try:
        at = [0] * 4
        for thread, stack, gap, kind in feeds:
            start = at[thread] + (10 if gap == 3 else 0)
            at[thread] = start + gap
            assert _core.samples_feed(thread, stack, start, gap, kind)
            reference.feed(thread, stack, start, gap, kind)
        assert records(folder) == reference.records
    finally:
        _core.storage_close()


def test_a_hundred_thousand_nodes_are_each_found_again(folder: Path) -> None:
    for _ in range(2):
        for number in range(100_000):
            _core.samples_feed(1, ((1, 1), (number, number % 7)), number, 1)
    nodes = [each for each in records(folder) if isinstance(each, tuple)]
    assert len(nodes) == len(set(nodes)) == 100_001


def test_a_full_file_stops_and_says_so(tmp_path: Path) -> None:
    _core.storage_open(str(tmp_path), 2**20)
    try:
        number = 1
        while _core.samples_feed(1, ((number, 1),), number * 10, 1):
            number += 1
        header = fmt.HEADER.unpack_from((tmp_path / fmt.SAMPLES_FILE).read_bytes())
        assert header[6] == fmt.StreamState.FULL
        assert not _core.samples_feed(1, ((1, 1),), 5, 1)
        assert _core.step_mark()  # the other streams continue
    finally:
        _core.storage_close()


def test_a_storage_in_memory_keeps_no_samples() -> None:
    _core.storage_open(None, 2**20)
    try:
        assert not _core.samples_feed(1, MAIN, 1, 1)
    finally:
        _core.storage_close()


def test_a_forked_child_does_not_write_into_its_parents_samples(folder: Path) -> None:
    _core.samples_feed(1, MAIN, 100, 10)
    before = records(folder)
    child = os.fork()
    if child == 0:
        _core.samples_feed(1, DEEPER, 110, 10)
        os._exit(0)
    os.waitpid(child, 0)
    assert records(folder) == before


KILLED = """
import os, sys
from stepscope.native import _core
_core.storage_open(sys.argv[1], 2**24)
for number in range(1, 100_000):
    _core.samples_feed(1, ((1, 1), (number % 100, 2)), number * 10, 10)
    if number == 54_321:
        os.kill(os.getpid(), 9)
"""


def test_a_killed_process_leaves_every_sample_it_took(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    samples = [each for each in records(tmp_path) if isinstance(each, list)]
    assert len(samples) == 54_321
    assert sum(sample[4] for sample in samples) == 543_210
