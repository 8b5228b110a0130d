"""Findings that went away, came, or are still there."""

from collections.abc import Iterator

from stepscope.advise.findings import findings
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
    found = findings(side.run).findings
    return {
        (each.id, each.location.function if each.location else None): each
        for each in reversed(found)  # of several with one key, the one that gains most
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
