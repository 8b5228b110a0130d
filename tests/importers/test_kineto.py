"""torch's traces: whole, old, damaged and cut off."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import needs
from stepscope.errors import DataError
from stepscope.importers.kineto import text as trace_text
from stepscope.importers.kineto.reader import read_kineto
from stepscope.importers.trace import Category, Trace

BASE_NS = 1_700_000_000_000_000_000


def op(name: str, ts: Any, dur: Any = 5.0, **fields: Any) -> dict[str, Any]:
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur}
    return event | fields


def write(path: Path, events: list[Any], **head: Any) -> Path:
    path.write_text(json.dumps({"schemaVersion": 1, **head, "traceEvents": events}))
    return path


def names(trace: Trace) -> list[str]:
    return [trace.names[number] for number in trace.events["name"]]


def test_times_are_unix_nanoseconds(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.json", [op("aten::mm", 3927631891432.718, 0.411)], baseTimeNanoseconds=BASE_NS
    )
    trace = read_kineto(path)
    assert trace.events["start_ns"].tolist() == [BASE_NS + 3927631891432718]
    assert trace.events["duration_ns"].tolist() == [411]
    assert trace.notes == []


def test_an_old_trace_has_whole_microseconds_since_1970(tmp_path: Path) -> None:
    trace = read_kineto(write(tmp_path / "t.json", [op("aten::mm", 1623142623460172, 3)]))
    assert trace.events["start_ns"].tolist() == [1623142623460172000]


def test_old_and_new_words_mean_the_same(tmp_path: Path) -> None:
    words = {
        "Operator": Category.OP, "cpu_op": Category.OP, "Kernel": Category.KERNEL,
        "kernel": Category.KERNEL, "Runtime": Category.RUNTIME, "cuda_runtime": Category.RUNTIME,
        "Memcpy": Category.MEMCPY, "gpu_memcpy": Category.MEMCPY, "Memset": Category.MEMSET,
        "gpu_memset": Category.MEMSET, "user_annotation": Category.ANNOTATION,
        "python_function": Category.PYTHON, "something new": Category.OTHER,
    }  # fmt: skip
    trace = read_kineto(write(tmp_path / "t.json", [op("x", 1, cat=word) for word in words]))
    assert trace.events["category"].tolist() == list(words.values())


def test_numbers_may_be_written_as_text(tmp_path: Path) -> None:
    event = op("aten::mm", "12.5", "2", args={"External id": "9", "correlation": 3, "stream": "7"})
    trace = read_kineto(write(tmp_path / "t.json", [event, op("aten::t", "20", "?")]))
    assert trace.events["start_ns"].tolist() == [12500, 20000]
    assert trace.events["duration_ns"].tolist() == [2000, 0]
    assert trace.events["external"].tolist() == [9, -1]
    assert trace.events["stream"].tolist() == [7, -1]


def test_a_bare_list_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([op("aten::mm", 1), op("aten::t", 9)]))
    assert names(read_kineto(path)) == ["aten::mm", "aten::t"]


def test_memory_flows_and_shapes_are_read(tmp_path: Path) -> None:
    memory = {"ph": "i", "name": "[memory]", "pid": 7, "tid": 7, "ts": 2,
              "args": {"Bytes": -64, "Device Type": 1, "Addr": 2**63 - 1}}  # fmt: skip
    flow = {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 4, "pid": 7, "tid": 7, "ts": 1}
    shaped = op("aten::mm", 1, args={"Input Dims": [[2, 3], [3, 4]], "Input type": ["float"]})
    trace = read_kineto(write(tmp_path / "t.json", [memory, flow, shaped]))
    assert trace.memory[["bytes", "is_device"]].tolist() == [(-64, True)]
    assert trace.flows[["id", "at_ns", "is_end"]].tolist() == [(4, 1000, True)]
    assert json.loads(trace.shapes[trace.events["shapes"][0]].dims) == [[2, 3], [3, 4]]


def test_what_is_no_trace_is_refused_with_a_word_on_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"loss": [1, 2, 3]}')
    with pytest.raises(DataError, match="export_chrome_trace"):
        read_kineto(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_kineto(tmp_path / "absent.json")


# --- damage ---------------------------------------------------------------------------------------


def many(count: int) -> list[dict[str, Any]]:
    return [
        op(f"aten::op{number}", number, args={"External id": number}) for number in range(count)
    ]


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("part", [0.3, 0.62, 0.99])
def test_a_trace_that_is_cut_off_is_read_up_to_there(
    tmp_path: Path, part: float, gzipped: bool
) -> None:
    text = json.dumps({"traceEvents": many(500)}).encode()
    whole = gzip.compress(text) if gzipped else text
    path = tmp_path / "t.json"
    path.write_bytes(whole[: int(len(whole) * part)])
    trace = read_kineto(path)
    found = names(trace)
    assert found == [f"aten::op{number}" for number in range(len(found))]
    if not gzipped:
        assert len(found) >= int(500 * part) - 2
    assert any("cut off" in note for note in trace.notes)


@pytest.mark.parametrize(
    ("good", "bad", "kept"),
    [
        (b"aten::op3\"", b"aten::\x01op3\"", True),  # a raw control character
        (b"aten::op3\"", b"C:\\users\\op3\"", True),  # a backslash that escapes nothing
        (b"aten::op3\"", b"aten::\xff\"", True),  # no text at all
        (b"aten::op3\"", b"aten::op3", False),  # a missing quote
        (b"\"ts\": 3,", b"\"ts\": 3", False),  # a missing comma
    ],
)  # fmt: skip
def test_one_damaged_event_costs_no_more_than_itself(
    tmp_path: Path, good: bytes, bad: bytes, kept: bool
) -> None:
    text = json.dumps({"traceEvents": many(8)}).encode()
    assert text.count(good) == 1
    path = tmp_path / "t.json"
    path.write_bytes(text.replace(good, bad))
    trace = read_kineto(path)
    assert len(trace.events) == (8 if kept else 7)
    assert [note for note in trace.notes if "damaged" in note] == (
        [] if kept else ["t.json: 1 event is damaged and left out."]
    )


def test_lists_of_objects_inside_an_event_are_no_boundaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_text, "CHUNK_BYTES", 200)
    nested = [
        op(f"op{i}", i, args={"frames": [{"a": 1}, {"b": [{"c": 2}, {}]}]}) for i in range(99)
    ]
    trace = read_kineto(write(tmp_path / "t.json", nested, deviceProperties=[{"id": 0}, {"id": 1}]))
    assert len(trace.events) == 99
    assert trace.notes == []


def test_what_follows_the_events_belongs_to_the_head(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    events = json.dumps(many(5))
    path.write_text(f'{{"traceEvents": {events}, "baseTimeNanoseconds": 1000, "traceName": "a"}}')
    trace = read_kineto(path)
    assert trace.head == {"baseTimeNanoseconds": 1000, "traceName": "a"}
    assert trace.events["start_ns"][0] == 1000


texts = st.text(max_size=12)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(st.tuples(texts, anything), max_size=25),
    st.integers(20, 400),
    st.sampled_from([None, 1]),
)
@settings(max_examples=120)
def test_any_list_of_events_is_read_whole_however_it_is_cut_in_chunks(
    contents: list[tuple[str, Any]], chunk_bytes: int, indent: int | None
) -> None:
    import tempfile

    events = [op(name, 1, args={"note": note}) for name, note in contents]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_text, "CHUNK_BYTES", chunk_bytes)
        path = Path(folder) / "t.json"
        path.write_text(json.dumps({"traceEvents": events, "after": [1, 2]}, indent=indent))
        trace = read_kineto(path)
    assert names(trace) == [name for name, _ in contents]
    assert trace.notes == []


# --- traces in the wild ---------------------------------------------------------------------------

WILD = {
    "torch_v100_resnet50_workers0.pt.trace.json.gz": (44666, 12838, 0, 603_558_000),
    "torch_a100_ddp2_nccl_rank0.json.gz": (26933, 0, 1086, 165_364_000),
    "torch_h100_timesformer_stacks_mem.json.gz": (47336, 1264, 0, None),
    "torch_mi300x_resnet_ddp8_rank0_stacks.json.gz": (49208, 0, 426, None),
    "torch_mi300x_sglang_inference.json.gz": (58712, 0, 0, None),
    "aux/autograd_legacy_list_cpu.json": (1866, 0, 0, None),
    "ddp128_sampled/rank-0.json.gz": (4811, 0, 0, None),
}


@pytest.mark.parametrize("name", WILD)
def test_traces_in_the_wild_are_read_whole(name: str) -> None:
    events, memory, flows, device_ns = WILD[name]
    trace = read_kineto(needs.trace(name))
    assert (len(trace.events), len(trace.memory), len(trace.flows)) == (events, memory, flows)
    assert trace.notes == []
    on_device = trace.of(Category.KERNEL, Category.MEMCPY, Category.MEMSET)
    assert trace.has_device == (len(on_device) > 0)
    if device_ns is not None:
        assert int(np.rint(on_device["duration_ns"].sum() / 1e6)) == round(device_ns / 1e6)


@pytest.mark.parametrize("base", ["1" + "0" * 30, "-1", "1e999", "9" * 5000, '"soon"'])
def test_a_time_that_no_clock_has_is_not_what_times_count_from(base: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    event = '{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 5, "dur": 2}'
    path.write_text(f'{{"baseTimeNanoseconds": {base}, "traceEvents": [{event}]}}')
    assert read_kineto(path).events["start_ns"].tolist() == [5000]
