"""Findings that went away, came, or are still there."""

from collections.abc import Iterator
from statistics import fmean

import msgspec

from stepscope.compare.recording import Recording
from stepscope.compare.side import Side
from stepscope.model.comparison import FindingChange
from stepscope.model.findings import Finding

_Key = tuple[str, str | None]  # id and function: lines move


def finding_changes(before: Side, after: Side) -> list[FindingChange]:
    """Those that went away first, then the new ones."""
    old, new = _by_key(before), _by_key(after)
    order = "gone", "new", "still there"
    return sorted(_changes(old, new), key=lambda each: order.index(each.change))


def _by_key(side: Side) -> dict[_Key, Finding]:
    """Those that at least half of a side's runs have."""
    found: dict[_Key, list[Finding]] = {}
    for recording in side.recordings:
        for key, finding in _findings_of(recording).items():
            found.setdefault(key, []).append(finding)
    return {
        key: msgspec.structs.replace(each[0], share=fmean(one.share for one in each))
        for key, each in found.items()
        if 2 * len(each) >= len(side.recordings)
    }


def _findings_of(recording: Recording) -> dict[_Key, Finding]:
    return {
        (each.id, each.location.function if each.location else None): each
        for each in reversed(recording.findings)  # of several with one key, the one that gains most
    }


def _changes(old: dict[_Key, Finding], new: dict[_Key, Finding]) -> Iterator[FindingChange]:
    for key in {**old, **new}:
        before, after = old.get(key), new.get(key)
        latest = after or before
        assert latest is not None
        yield FindingChange(
            id=latest.id,
            title=latest.title,
            change="gone" if after is None else "new" if before is None else "still there",
            before=before.share if before else None,
            after=after.share if after else None,
            location=latest.location,
        )
