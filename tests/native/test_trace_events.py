"""Events of torch's traces read in C: the same rows as one by one, and no text is too damaged."""

import json
import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.importers.kineto.events import Event, rows_of
from stepscope.importers.kineto.rows import Rows, read_rows, shapes_of, string_of, thread_of

TEXTS = {"name": string_of, "category": string_of, "thread": thread_of, "shapes": shapes_of,
         "args_name": string_of}  # fmt: skip


def fields(rows: Rows) -> list[dict[str, Any]]:
    """Each event with its texts instead of their numbers."""
    found = []
    for row in rows._rows:
        fields = {name: row[name].item() for name in row.dtype.names if name != "unused"}
        for name, text in TEXTS.items():
            fields[name] = text(rows.text(fields[name])) if fields[name] >= 0 else None
        if math.isnan(fields["ts_us"]):  # it has no time; no such number equals another
            fields["ts_us"] = None
        found.append(fields)
    return found


def one_by_one(text: bytes) -> list[dict[str, Any]]:
    return fields(rows_of(msgspec.json.decode(b"[" + text.strip(b" ,") + b"]", type=list[Event])))


def read(text: bytes) -> tuple[list[dict[str, Any]], int]:
    rows, end = read_rows(text)
    return fields(rows), end


OP = {
    "ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 7, "tid": "stream 7",
    "ts": 3927631891432.718, "dur": 0.411,
    "args": {"External id": 5, "Sequence number": 12, "Input Dims": [[1, 2], []],
             "Input type": ["float", ""], "Concrete Inputs": ["", "[1, 1]"], "Ev Idx": 3},
}  # fmt: skip
MEMORY = {
    "ph": "i", "name": "[memory]", "pid": 7, "tid": 8, "ts": 12,
    "args": {"Bytes": -64, "Addr": 94100000000000, "Device Type": 1, "Total Allocated": 9},
}  # fmt: skip
FLOW = {"ph": "f", "id": 4, "cat": "fwdbwd", "name": "fwdbwd", "pid": 7, "tid": 7, "ts": 1e3}
NAME = {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": 'a "b" \n é'}}
ALL = [OP, MEMORY, FLOW, NAME]


@pytest.mark.parametrize("indent", [None, 2])
def test_what_torch_writes_is_read_to_the_end(indent: int | None) -> None:
    text = json.dumps(ALL, indent=indent)[1:-1].encode()
    found, end = read(text)
    assert end == len(text)
    assert found == one_by_one(text)
    assert found[0]["shapes"] == (b"[[1, 2], []]", b'["float", ""]', b'["", "[1, 1]"]') or indent
    assert found[3]["args_name"] == 'a "b" \n é'


@pytest.mark.parametrize(
    "strange",
    [
        b'{"ph": "X", "ts": "12.5"}', b'{"ph": "X", "ts": null}', b'{"ph": "X", "args": [1]}',
        b'{"ph": 1}', b'{"ph": "X", "ts": 1 "dur": 2}', b'{"ph": "X", "ts": 01}', b"[1]", b"1",
        b'{"ph": "X", "name": "a\x01"}', b'{"ph": "X", "name": "a\\x"}', b'{"ph": "X", "pid": {}}',
        b'{"ph": "X", "args": {"Addr": 12345678901234567890}}', b'{"p\\u0068": "X"}', b'{"ph": "X"',
        b'{"ph": "X", "args": {"x": ' + b"[" * 500 + b"]" * 500 + b"}}", b"]", b"{,}", b'{"ph"}',
    ],
)  # fmt: skip
def test_it_ends_before_what_is_damaged_or_strange(strange: bytes) -> None:
    good = json.dumps(OP).encode()
    found, end = read(good + b", " + strange + b", " + good)
    assert (len(found), end) == (1, len(good))


def test_numbers_are_the_nearest_there_are() -> None:
    texts = ["0.1", "-0.001", "3927631891432.718", "1623142623460172.123", "1e-5", "12345678901",
             "9007199254740993", "0.30000000000000004", "1" * 40]  # fmt: skip
    text = ", ".join(f'{{"ph": "X", "ts": {each}}}' for each in texts).encode()
    rows, end = read_rows(text)
    assert end == len(text)
    assert rows.of("X")["ts_us"].tolist() == [float(each) for each in texts]


def test_many_different_texts_keep_their_numbers() -> None:
    names = [f"op {number}" for number in range(20_000)] * 2
    text = ",".join(json.dumps({"ph": "X", "name": name}) for name in names).encode()
    rows, _ = read_rows(text)
    assert [string_of(rows.text(each)) for each in rows.of("X")["name"].tolist()] == names


def test_nothing_is_no_event() -> None:
    for text in (b"", b" ,\n, "):
        rows, end = read_rows(text)
        assert (len(rows.of("X")), end) == (0, len(text))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
scalars = st.integers(-(10**17), 10**17) | texts | st.none()
values = st.recursive(
    scalars | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
numbers = st.integers(-(10**17), 10**17)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "External id": numbers, "external id": numbers, "correlation": numbers,
        "Sequence number": numbers, "stream": numbers, "device": numbers, "bytes": numbers,
        "Bytes": numbers, "Device Type": numbers, "Addr": numbers, "name": values,
        "Input Dims": values, "Input type": values, "Concrete Inputs": values, "else": values,
    },
)  # fmt: skip
events = st.fixed_dictionaries(
    {"ph": st.just("X") | st.sampled_from("MisfBE") | texts},
    optional={
        "name": texts | st.just("conv"), "cat": texts | st.none(), "pid": scalars, "tid": scalars,
        "ts": st.floats(-1e15, 1e15) | numbers, "dur": st.floats(0, 1e9), "id": numbers,
        "args": arguments | st.none(), "else": values,
    },
)  # fmt: skip


@given(st.lists(events, max_size=8), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=300)
def test_rows_are_the_same_as_one_by_one(
    contents: list[dict[str, Any]], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(contents, indent=indent, ensure_ascii=ascii_only)[1:-1].encode()
    found, end = read(text)
    if end == len(text):
        assert found == one_by_one(text)
    else:
        assert found == one_by_one(text[:end])


@given(st.data())
@settings(max_examples=300)
def test_any_bytes_may_be_wrong(data: st.DataObject) -> None:
    text = bytearray(json.dumps(ALL)[1:-1].encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.integers(0, 255) | st.sampled_from(b'"\\{}[],:0'))
    rows, end = read_rows(bytes(text[: data.draw(st.integers(0, len(text)))]))
    assert 0 <= end <= len(text)
    assert np.isin(rows._rows["unused"], 0).all()
