"""How many samples are in what a model is given."""

from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.native import _core


def array(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


@pytest.mark.parametrize(
    ("batch", "samples"),
    [
        (array(32, 8), 32),
        ((array(32, 8), array(32)), 32),
        ({"ids": array(32, 8), "mask": array(32, 8)}, 32),
        ((array(50, 32, 8), array(32)), 32),  # (time, batch, features)
        ([array(50, 32), array(32, 1)], 32),
        ((array(50, 32, 8), array(50, 32)), 50),  # both could be
        ((array(32, 8), array(7)), 32),
        ((array(32), array(8)), 32),
        ((array(50, 32, 8), array(32), array(50)), 50),
        ((array(4, 4), None), 4),
        ("text", None),
        ((), None),
    ],
)
def test_the_dimension_that_inputs_share_with_their_labels(
    batch: object, samples: int | None
) -> None:
    assert _core.samples_in(batch) == samples
