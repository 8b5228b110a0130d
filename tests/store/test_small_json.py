"""JSON as the recorded process writes and reads it: what `json` would."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.store import small_json

NUMBERS = st.integers() | st.floats(allow_nan=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=20,
)


@given(VALUES)
def test_it_is_what_json_writes(value: Any) -> None:
    assert small_json.write(value).decode() == json.dumps(value)


@given(VALUES)
def test_it_reads_what_json_reads(value: Any) -> None:
    for indent in (None, 1):
        assert small_json.read(json.dumps(value, indent=indent).encode() + b"\n") == value


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES))
def test_an_object_in_lines_is_the_same_object(fields: dict[str, Any]) -> None:
    assert json.loads(small_json.write(fields, in_lines=True)) == fields


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_has_the_names_that_json_gives_it(value: float) -> None:
    assert small_json.write([value]).decode() == json.dumps([value])
    assert repr(small_json.read(json.dumps(value).encode())) == repr(value)


def test_bytes_that_are_no_text_are_escaped() -> None:
    name = b"/data/\xff.py".decode("utf-8", "surrogateescape")
    assert json.loads(small_json.write({"path": name})) == {"path": "/data/\\udcff.py"}


@pytest.mark.parametrize("text", ["", "{broken", '{"a": 1} 2', "[1,]", '{"a"', "nul"])
def test_what_is_broken_is_explained_by_json(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        small_json.read(text.encode())
