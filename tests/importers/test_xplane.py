"""Traces of TensorFlow and JAX: whole, cut off, damaged, and those of others."""

import contextlib
import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.analyze.traces.operator_tree import op_tree
from stepscope.errors import DataError
from stepscope.importers.trace import Category, Source, Trace
from stepscope.importers.xplane import protobuf_wire as wire
from stepscope.importers.xplane.reader import read_xplane
from stepscope.importers.xplane.trace import read_xplane_trace
from xplane_writer import PlaneWriter, Ref, number, text, varint, write

START_NS = 1_700_000_000_000_000_000


def names(trace: Trace) -> list[str]:
    return [trace.names[each] for each in trace.events["name"]]


# --- the wire -------------------------------------------------------------------------------------

numbers = st.integers(0, 2**64 - 1)


@given(st.lists(numbers, max_size=50))
def test_numbers_of_any_length_are_read_many_at_once(values: list[int]) -> None:
    data = b"".join(varint(value) for value in values) + bytes(wire.PADDING)
    starts = np.cumsum([0, *(len(varint(value)) for value in values)])[:-1].astype(np.int64)
    read, _ = wire.varints(np.frombuffer(data, np.uint8), starts)
    assert read.tolist() == values


@given(st.lists(st.lists(st.tuples(st.integers(1, 30), numbers | st.binary(max_size=300)),
                         max_size=8), max_size=20))  # fmt: skip
def test_fields_are_the_same_one_by_one_and_many_at_once(
    messages: list[list[tuple[int, int | bytes]]],
) -> None:
    written = [
        b"".join(number(n, v) if isinstance(v, int) else text(n, v) for n, v in message)
        for message in messages
    ]
    data = b"".join(written)
    edges = np.cumsum([0, *map(len, written)]).astype(np.int64)
    padded = np.frombuffer(data + bytes(wire.PADDING), np.uint8)
    found, damaged = wire.fields(padded, edges[:-1], edges[1:])
    assert not damaged.any()
    for index, message in enumerate(messages):
        mine = found.only(found.owner == index)
        alone = wire.split(data, int(edges[index]), int(edges[index + 1])).fields
        fields = [(f.number, f.value if f.wire == 0 else data[f.start : f.stop]) for f in alone]
        assert fields == message
        columns = mine.number, mine.wire, mine.value, mine.start, mine.stop
        assert [
            (n, v if w == 0 else data[start:stop])
            for n, w, v, start, stop in zip(*(c.tolist() for c in columns), strict=True)
        ] == message


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_no_bytes_are_too_damaged_to_be_looked_at(data: bytes) -> None:
    found = wire.split(data, 0, len(data))
    assert all(0 <= f.start <= f.stop <= len(data) for f in found.fields)
    padded = np.frombuffer(data + bytes(wire.PADDING), np.uint8)
    edges = np.arange(0, len(data) + 1, dtype=np.int64)
    many, _ = wire.fields(padded, edges, np.full(len(edges), len(data), np.int64))
    assert (many.stop <= len(data)).all()
    assert wire.messages_of(data, 0, len(data), 1).unread >= 0


# --- planes, lines, events ------------------------------------------------------------------------


def test_times_count_from_where_the_profile_began(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(7, "python", at_ns=500).event("MatMul:MatMul", 2.5, 1.25)
    trace = read_xplane_trace(write(tmp_path / "t.xplane.pb", host, start_ns=START_NS))
    assert trace.events["start_ns"].tolist() == [START_NS + 500 + 2500]
    assert trace.events["duration_ns"].tolist() == [1250]
    assert names(trace) == ["MatMul"]
    assert (trace.threads[0].thread, trace.threads[0].name) == ("7", "python")
    assert trace.notes == []


def test_an_older_file_has_whole_times_on_its_lines(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line(7, "python", at_ns=START_NS).event("MatMul:MatMul", 1, 1)
    path = write(tmp_path / "t.xplane.pb", host)
    assert read_xplane_trace(path).events["start_ns"].tolist() == [START_NS + 1000]


def test_statistics_of_every_kind_are_read_of_events_and_of_their_names(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.describe("op", size=5, shape="[2]", kind=Ref("fast"))
    line = host.line(1, "a")
    line.event("op", 0, 1, big=2**63 + 1, low=-4, share=0.5, mark="é", kind=Ref("slow"))
    line.event("op", 2, 1, size=9)
    plane = read_xplane(write(tmp_path / "t.xplane.pb", host)).planes[0]
    assert plane.integers("size").tolist() == [5, 9]
    assert plane.integers("low").tolist() == [-4, -1]
    assert plane.integers("big").astype(np.uint64).tolist()[0] == 2**63 + 1
    assert plane.integers("absent").tolist() == [-1, -1]
    for key, expected in {
        "shape": ["[2]", "[2]"], "mark": ["é", None], "kind": ["slow", "fast"],
        "share": ["0.5", None],
    }.items():  # fmt: skip
        index, found = plane.texts(key)
        assert [found[i] if i >= 0 else None for i in index.tolist()] == expected


def test_operators_stages_calls_and_allocations_are_told_apart(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    line = host.line(1, "python")
    line.event("train", 0, 100, step_num=3, _r=1)
    line.event("model/dense/MatMul:MatMul", 1, 10)
    line.event("Iterator::Root::Prefetch::Map", 12, 5)
    line.event("ExecutorState::Process", 18, 5)
    line.event("cuLaunchKernel", 24, 5, correlation_id=8)
    line.event("$train.py:12 main", 30, 5)
    line.event("PjitFunction(step)", 36, 5)
    line.event("EagerLocalExecute: Relu", 42, 2)
    line.event("EagerLocalExecute: __inference_f_12", 45, 2)
    line.event("MemoryAllocation", 2, 0, allocation_bytes=64, addr=4096, allocator_name="cpu")
    line.event("MemoryDeallocation", 3, 0, allocation_bytes=24, addr=9,
               allocator_name="GPU_0_bfc")  # fmt: skip
    trace = read_xplane_trace(write(tmp_path / "t.xplane.pb", host))
    found = list(zip(names(trace), trace.events["category"].tolist(), strict=True))
    assert found == [
        ("train", Category.ANNOTATION), ("MatMul", Category.OP), ("Iterator::Map", Category.OTHER),
        ("ExecutorState::Process", Category.OTHER), ("cuLaunchKernel", Category.RUNTIME),
        ("train.py:12 main", Category.PYTHON), ("PjitFunction(step)", Category.ANNOTATION),
        ("Relu", Category.OP), ("EagerLocalExecute: __inference_f_12", Category.OTHER),
    ]  # fmt: skip
    assert trace.memory[["bytes", "is_device", "address"]].tolist() == [
        (64, False, 4096), (-24, True, 9),
    ]  # fmt: skip
    assert np.flatnonzero(trace.events["is_input"]).tolist() == [2]


def test_kernels_on_a_gpu_belong_to_the_operator_that_launched_them(tmp_path: Path) -> None:
    host, device = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:3")
    line = host.line(1, "tf_Compute/1")
    line.event("a/Conv2D:Conv2D", 0, 50)
    line.event("cuLaunchKernel", 10, 2, correlation_id=8)
    line.event("b/MatMul:MatMul", 60, 5)
    stream = device.line(16, "Stream #16(Compute)")
    stream.event("winograd", 100, 30, correlation_id=8, tf_op="a/Conv2D:Conv2D")
    stream.event("MemcpyH2D", 140, 4, correlation_id=9, memcpy_details="size:4096 dest:3 async:1")
    device.line(99, "TensorFlow Ops").event("Conv2D", 100, 30)
    trace = read_xplane_trace(write(tmp_path / "t.xplane.pb", host, device))
    work = trace.of(Category.KERNEL, Category.MEMCPY)
    assert [trace.names[each] for each in work["name"]] == ["winograd", "MemcpyH2D"]
    assert work["category"].tolist() == [Category.KERNEL, Category.MEMCPY]
    assert work[["device", "stream", "bytes"]].tolist() == [(3, 16, 0), (3, 16, 4096)]
    tree = op_tree(trace)
    assert [trace.names[tree.events["name"][tree.launcher[0]]], tree.launcher[1]] == ["Conv2D", -1]


def test_on_a_tpu_what_only_holds_other_operations_does_not_count(tmp_path: Path) -> None:
    device = PlaneWriter("/device:TPU:0")
    device.describe("%fusion.2 = f32[8] fusion(p0)", "fusion.2", tf_op="jit(f)/add:",
                    source="/home/me/train.py:29")  # fmt: skip
    line = device.line(2, "XLA Ops")
    line.event("%while.1 = while(...)", 0, 100)
    line.event("%fusion.2 = f32[8] fusion(p0)", 0, 40)
    line.event("%fusion.2 = f32[8] fusion(p0)", 50, 50)
    device.line(3, "XLA Modules").event("jit_f", 0, 100)
    trace = read_xplane_trace(write(tmp_path / "t.xplane.pb", device))
    assert names(trace) == ["fusion", "fusion"]
    assert [trace.names[each] for each in trace.events["framework_op"]] == ["add", "add"]
    assert [trace.sources[each] for each in trace.events["source"]] == [
        (Source("/home/me/train.py", 29),)
    ] * 2


# --- damage ---------------------------------------------------------------------------------------


def many(path: Path, count: int = 300) -> Path:
    host, other = PlaneWriter("/host:CPU"), PlaneWriter("/host:other")
    for plane in (host, other):
        line = plane.line(1, "python")
        for index in range(count):
            line.event(f"op{index % 7}:MatMul", index * 10, 5, step_id=index, mark="x" * 20)
    return write(path, host, other, start_ns=START_NS)


@pytest.mark.parametrize("part", [0.2, 0.45, 0.7, 0.9])
def test_a_trace_that_is_cut_off_is_read_up_to_there(tmp_path: Path, part: float) -> None:
    whole = many(tmp_path / "whole.xplane.pb").read_bytes()
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(whole[: int(len(whole) * part)])
    space = read_xplane(path)
    read = sum(len(plane.events) for plane in space.planes)
    assert read == pytest.approx(600 * part, abs=15)
    assert any("is cut off" in note for note in space.notes)
    lost = sum(name.endswith("are missing.") for name in space.notes)
    assert lost == 1  # the names come after the events


def test_a_gzipped_trace_is_read_also_when_that_is_cut_off(tmp_path: Path) -> None:
    whole = gzip.compress(many(tmp_path / "whole.xplane.pb").read_bytes())
    path = tmp_path / "t.xplane.pb.gz"
    path.write_bytes(whole)
    assert len(read_xplane(path).planes[0].events) == 300
    cut = tmp_path / "cut.xplane.pb.gz"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    assert any("is cut off" in note for note in read_xplane(cut).notes)


def test_one_damaged_event_costs_no_more_than_itself(tmp_path: Path) -> None:
    data = bytearray(many(tmp_path / "whole.xplane.pb").read_bytes())
    first = data.index(b"x" * 20)
    data[first - 1] = 0x7F  # the text now ends outside its event
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(data)
    space = read_xplane(path)
    assert [len(plane.events) for plane in space.planes[:2]] == [300, 300]
    data[first - 5] = 0x7F  # and so does the statistic
    path = tmp_path / "u.xplane.pb"
    path.write_bytes(data)
    space = read_xplane(path)
    assert [len(plane.events) for plane in space.planes[:2]] == [299, 300]
    assert space.notes == ["u.xplane.pb: 1 event is damaged and left out."]


@given(st.data())
@settings(max_examples=60)
def test_any_bytes_may_be_wrong(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        content = bytearray(many(Path(folder) / "whole.xplane.pb", 20).read_bytes())
        for _ in range(data.draw(st.integers(1, 8))):
            at = data.draw(st.integers(0, len(content) - 1))
            content[at] = data.draw(st.integers(0, 255))
        path = Path(folder) / "t.xplane.pb"
        path.write_bytes(content)
        with contextlib.suppress(DataError):  # any other exception is a failure
            read_xplane_trace(path)


def test_what_is_no_trace_is_refused_with_a_word_on_what_to_do(tmp_path: Path) -> None:
    for content in (b"", b'{"traceEvents": []}', b"\x00" * 100, b"\x89PNG\r\n\x1a\n" * 9):
        path = tmp_path / f"{len(content)}.xplane.pb"
        path.write_bytes(content)
        with pytest.raises(DataError, match="is not a trace"):
            read_xplane(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_xplane(tmp_path / "absent.xplane.pb")
