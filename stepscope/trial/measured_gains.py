"""What was measured, kept with the baseline's run: its findings show it in place of predictions."""

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence

import msgspec

from stepscope.model.trial import Rung
from stepscope.store.format import FORMAT_VERSION, MEASURED_FILE
from stepscope.store.plain_files import replace_plain
from stepscope.store.records import MeasuredGain, MeasuredGains


def keep_gains(run: str, rungs: Sequence[Rung]) -> None:
    """`rungs`: in the order in which they were measured. A run that cannot be written keeps its
    predictions: the ladder's own answer has everything."""
    body = msgspec.json.encode(MeasuredGains(format=FORMAT_VERSION, fixes=list(_gains(rungs))))
    with contextlib.suppress(OSError):
        replace_plain(os.path.join(run, MEASURED_FILE), body)


def _gains(rungs: Sequence[Rung]) -> Iterator[MeasuredGain]:
    kept = [
        [],
        *itertools.accumulate([each.fix] if each.status == "kept" else [] for each in rungs),
    ]
    for rung, before in zip(rungs, kept, strict=False):
        if rung.finding is None or rung.fix is None or rung.speedup is None:
            continue
        yield MeasuredGain(
            fix=rung.fix,
            finding=rung.finding,
            file=rung.location.file if rung.location else None,
            line=rung.location.line if rung.location else None,
            speedup=rung.speedup,
            low=rung.low or rung.speedup,
            high=rung.high or rung.speedup,
            rounds=rung.rounds,
            on_top_of=[fix for fix in before if fix],
            is_ceiling=rung.is_ceiling,
            reason=None if rung.is_ceiling else rung.reason,
        )
