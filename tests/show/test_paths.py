"""Paths that must be short: unique in their table, and cut at the beginning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from stepscope.show.terminal.drawing.paths import cut_path, short_function, short_paths

PATHS = st.lists(st.sampled_from("abcé漢"), min_size=1, max_size=6).map("/".join)


def test_a_file_is_called_by_its_bare_name_where_no_other_has_it() -> None:
    assert short_paths(["examples/mnist/train.py", "examples/mnist/model.py"]) == {
        "examples/mnist/train.py": "train.py",
        "examples/mnist/model.py": "model.py",
    }


def test_files_of_one_name_keep_the_folder_that_tells_them_apart() -> None:
    assert short_paths(["/a/x/lib/train.py", "/a/y/lib/train.py", "train.py"]) == {
        "/a/x/lib/train.py": "…/x/lib/train.py",
        "/a/y/lib/train.py": "…/y/lib/train.py",
        "train.py": "train.py",
    }


@given(st.sets(PATHS))
def test_no_two_files_are_called_the_same(paths: set[str]) -> None:
    assert len(set(short_paths(paths).values())) == len(paths)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, "/home/ada/project/data/digits.npz"),
        (20, "…/data/digits.npz"),
        (12, "…/digits.npz"),
        (8, "…its.npz"),
    ],
)
def test_a_path_loses_its_beginning_first(width: int, shown: str) -> None:
    assert cut_path("/home/ada/project/data/digits.npz", width) == shown


@given(PATHS, st.integers(min_value=1, max_value=20))
def test_a_cut_path_fits_its_width(path: str, width: int) -> None:
    assert cell_len(cut_path(path, width)) <= width


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("get_dataset", "get_dataset"),
        ("Network.backward", "Network.backward"),
        ("TransformerEncoder.forward", "forward"),
        ("build.<locals>.Layer.forward", "Layer.forward"),
        ("a_very_long_function_name", "a_very_long_fun…"),
    ],
)
def test_a_function_keeps_the_part_that_tells_most(name: str, shown: str) -> None:
    assert short_function(name, 16) == shown
