"""Collectives by kind, size and process group: how long, how fast, and who comes last to them."""

import collections
import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.ranks.rank_traces import RankTrace
from stepscope.analyze.ranks.traced_collectives import Matched
from stepscope.importers.collectives import Collective
from stepscope.model.ranks import CollectiveRow, GroupRow

_MOST_ROWS: Final = 40
_BYTES: Final = {
    "Double": 8, "Long": 8, "Float": 4, "Int": 4, "BFloat16": 2, "Half": 2, "Short": 2,
}  # fmt: skip


@dataclasses.dataclass
class _Row:
    calls: int = 0
    total_ns: int = 0
    skew_ns: list[int] = dataclasses.field(default_factory=list)
    transfer_ns: list[int] = dataclasses.field(default_factory=list)
    last: collections.Counter[int] = dataclasses.field(default_factory=collections.Counter)


def collective_rows(ranks: list[RankTrace], met: Matched) -> list[CollectiveRow]:
    """The longest first. On one rank, waiting looks the same as transfer."""
    most = max(ranks, key=lambda each: int(each.calls.events["duration_ns"].sum()))
    places = enumerate(met.place[ranks.index(most)].tolist())
    column = {place: index for index, place in places if place >= 0}
    rows: dict[tuple[str, Collective | None], _Row] = collections.defaultdict(_Row)
    for index, lasted in enumerate(most.calls.events["duration_ns"].tolist()):
        row = rows[most.calls.kind[index].name, _same_kind(most.calls.described[index])]
        row.calls += 1
        row.total_ns += lasted
        if index in column and len(ranks) > 1:
            _add_arrivals(row, ranks, met, column[index])
    answers = [_answer(name, about, row, len(ranks) > 1) for (name, about), row in rows.items()]
    return sorted(answers, key=lambda row: (-row.total_ms, row.name))[:_MOST_ROWS]


def _same_kind(about: Collective | None) -> Collective | None:
    """Without what makes it unique."""
    return None if about is None else Collective(
        correlation=0, name=about.name, in_elements=about.in_elements,
        out_elements=about.out_elements, element_type=about.element_type,
        group_size=about.group_size, group=about.group, ranks=about.ranks,
    )  # fmt: skip


def _add_arrivals(row: _Row, ranks: list[RankTrace], met: Matched, at: int) -> None:
    first, last = int(met.first_ns[at]), int(met.last_ns[at])
    ended = int(np.median(met.end_ns[met.is_there[:, at], at]))
    row.skew_ns.append(last - first)
    row.transfer_ns.append(max(0, ended - last))
    if met.last[at] >= 0:
        row.last[ranks[int(met.last[at])].number] += 1


def _answer(name: str, about: Collective | None, row: _Row, has_others: bool) -> CollectiveRow:
    transfer_ms = float(np.mean(row.transfer_ns)) / 1e6 if row.transfer_ns else None
    each_ms = transfer_ms if transfer_ms is not None else row.total_ns / row.calls / 1e6
    size = message_bytes(about) if about is not None else 0
    rate = size / (each_ms / 1e3) if size and each_ms else None
    return CollectiveRow(
        name=name, group=about.group if about else None,
        group_size=about.group_size if about else None, size_bytes=size or None, calls=row.calls,
        total_ms=row.total_ns / 1e6,
        skew_ms=float(np.mean(row.skew_ns)) / 1e6 if row.skew_ns else None,
        transfer_ms=transfer_ms, algorithm_bytes_per_s=rate,
        bus_bytes_per_s=rate * bus_factor(name, about.group_size) if rate and about else None,
        last_rank=row.last.most_common(1)[0][0] if row.last else None,
    )  # fmt: skip


def message_bytes(about: Collective) -> int:
    """The larger of what goes in and what comes out, as nccl-tests counts a message."""
    elements = max(about.in_elements, about.out_elements)
    return elements * _BYTES.get(about.element_type, 1)


def bus_factor(name: str, ranks: int) -> float:
    """What a link carries for each byte of the message, as nccl-tests derives it."""
    plain = name.lower().replace("_", "")
    others = (ranks - 1) / ranks if ranks > 0 else 1.0
    if "allreduce" in plain:
        return 2 * others
    is_shared = any(word in plain for word in ("allgather", "reducescatter", "alltoall"))
    return others if is_shared else 1.0


def group_rows(ranks: list[RankTrace]) -> list[GroupRow]:
    """All ranks together, the longest first."""
    found: dict[tuple[str, str], list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    for each in ranks:
        for about, lasted in zip(
            each.calls.described, each.calls.events["duration_ns"].tolist(), strict=True
        ):
            if about is not None:
                row = found[about.group, about.ranks]
                row[0], row[1], row[2] = row[0] + 1, row[1] + lasted, row[2] + message_bytes(about)
    rows = [
        GroupRow(group=group, ranks=them, calls=calls, total_ms=ns / 1e6, size_bytes=size)
        for (group, them), (calls, ns, size) in found.items()
    ]
    return sorted(rows, key=lambda row: (-row.total_ms, row.group))
