"""What limits the input, from facts made by hand."""

import dataclasses
import typing

import numpy as np
import pytest

from stepscope.analyze.input.limits import LIMIT_WORDS, Facts, limit, start_up_ms, start_ups
from stepscope.analyze.input.loaders import Loader, Pairs
from stepscope.model import InputLine, Limit

LINE = InputLine(
    file="train.py", line=31, function="Images.__getitem__", ms_per_batch=38.0, share=0.9
)
# A step of 50 ms that waits 40 of them for two workers, on eight cores.
BUSY = Facts(
    workers=2, wait_ms=40.0, ready_ms=1.0, step_ms=50.0, load_ms=60.0, cores=8.0,
    idle_cores=5.5, starts=1, start_up_ms=80.0, start_share=0.0, transfer_share=0.1, get_ms=1.0,
    hottest=LINE, busy=0.97,
)  # fmt: skip


def pairs(*intervals: tuple[int, int]) -> Pairs:
    edges = np.array(intervals, np.int64).reshape(-1, 2)
    return edges[:, 0], edges[:, 1]


def loader(workers: int, *, waits: Pairs, starts: Pairs) -> Loader:
    samples = np.full(len(waits[0]), 8, np.int64)
    return Loader(workers, 1, waits, samples, starts, [])


def test_each_limit_has_words() -> None:
    assert LIMIT_WORDS.keys() == set(typing.get_args(Limit))


def test_busy_workers_and_idle_cores_ask_for_more_workers() -> None:
    assert limit(BUSY) == (
        "number",
        "the workers are busy 97 % of the time, and 5.5 of 8 cores are idle: use more workers, "
        "or do less work in __getitem__ (train.py:31)",
    )


def test_without_an_idle_core_more_workers_gain_nothing() -> None:
    what, why = limit(dataclasses.replace(BUSY, cores=2.0, idle_cores=0.1))
    assert what == "work"
    assert "no core is idle: more workers gain nothing, less work in __getitem__" in why


def test_what_the_machine_has_is_not_always_known() -> None:
    what, why = limit(dataclasses.replace(BUSY, cores=None, idle_cores=None, hottest=None))
    assert what == "number"
    assert "less work in the dataset" in why
    assert "None" not in why


def test_a_slow_sampler_is_not_cured_by_workers() -> None:
    alone = dataclasses.replace(BUSY, workers=0, busy=None, fetching=0.2)
    what, why = limit(alone)
    assert what == "work"
    assert "most of the wait is for the sampler" in why
    assert limit(dataclasses.replace(alone, fetching=0.9))[0] == "number"


def test_loading_in_the_training_process() -> None:
    alone = dataclasses.replace(BUSY, workers=0, busy=None, load_ms=40.0, starts=0)
    what, why = limit(alone)
    assert what == "number"
    assert why.startswith("loading happens in the training process, 80 % of each step")
    assert limit(dataclasses.replace(alone, idle_cores=0.0))[0] == "work"


@pytest.mark.parametrize("wait_ms", [0.0, 2.4])
def test_steps_that_hardly_wait_are_limited_by_nothing(wait_ms: float) -> None:
    assert limit(dataclasses.replace(BUSY, wait_ms=wait_ms))[0] == "nothing"


def test_taking_ready_batches_is_no_limit_however_long_it_takes() -> None:
    """On a busy machine the training process waits for a core while it takes one."""
    what, why = limit(dataclasses.replace(BUSY, wait_ms=10.0, ready_ms=8.0))
    assert what == "nothing"
    assert (
        why == "the steps wait 20 % of their time for input, mostly to take batches that are ready"
    )


def test_start_up_comes_before_all_that_follows_from_it() -> None:
    starting = dataclasses.replace(BUSY, start_share=0.7, starts=5, transfer_share=0.9, busy=0.2)
    what, why = limit(starting)
    assert what == "start-up"
    assert "(5 times, 80.0 ms each): persistent_workers=True" in why
    assert "persistent_workers" not in limit(dataclasses.replace(starting, starts=1))[1]


def test_batches_on_their_way_from_workers_that_could_do_more() -> None:
    moving = dataclasses.replace(BUSY, transfer_share=0.8, busy=0.3, get_ms=5.0)
    assert limit(moving)[0] == "transfer"
    assert "num_workers=0" in limit(dataclasses.replace(moving, get_ms=90.0))[1]
    assert limit(dataclasses.replace(moving, busy=0.9))[0] == "number"


def test_on_a_busy_machine_batches_on_their_way_wait_for_a_core() -> None:
    busy = dataclasses.replace(BUSY, busy=0.4, transfer_share=0.9, idle_cores=0.1)
    assert limit(busy)[0] == "work"
    assert limit(dataclasses.replace(busy, get_ms=90.0))[0] == "transfer"


def test_idle_workers_and_late_batches() -> None:
    what, why = limit(dataclasses.replace(BUSY, busy=0.25))
    assert what == "work"
    assert "nothing to do 75 % of the time" in why


def test_a_start_up_lasts_until_the_first_batch() -> None:
    found = loader(2, waits=pairs((20, 50), (60, 70), (90, 95)), starts=pairs((10, 18), (80, 88)))
    assert [each.tolist() for each in start_ups(found)] == [[10, 80], [50, 95]]
    assert start_up_ms(found) == pytest.approx((38 + 13) / 2 / 1e6)
    assert start_up_ms(loader(0, waits=found.waits, starts=found.starts)) is None


def test_a_start_without_a_batch_is_no_start_up() -> None:
    found = loader(2, waits=pairs((20, 50)), starts=pairs((10, 18), (80, 88)))
    assert [each.tolist() for each in start_ups(found)] == [[10], [50]]
