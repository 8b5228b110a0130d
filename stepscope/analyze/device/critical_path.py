"""The critical path of a step: the chain of work and delays that made it as long as it is.

1. `path_graph` says what each moment of host and device depends on.
2. From the last moment back, the edge that decided each moment is on the path: the path covers the
   whole step, and no time twice.
3. What an edge would give if it were gone is computed: all edges of that name take no time, and the
   earliest time of every moment is computed anew. What ran beside the path then limits the gain.
"""

import collections
from typing import Final

from stepscope.analyze.device.path_graph import Graph, Label, path_graph
from stepscope.analyze.device.path_steps import PathStep, path_step
from stepscope.analyze.traces.devices import Work
from stepscope.importers.trace import ON_DEVICE, Category
from stepscope.model.device import CriticalPath, PathRow, PathShare

_MOST_ROWS: Final = 12
_MOST_EVENTS: Final = 200_000  # in a step: more take longer than anyone waits


def critical_path(works: list[Work]) -> CriticalPath | None:
    """Of the first window; None: nothing says which call launched what, or it is too long."""
    work = works[0]
    if not (work.call >= 0).any():
        return None
    step = path_step(work)
    if _events_in(work, step) > _MOST_EVENTS:
        return None
    graph = path_graph(work, step)
    if len(graph.at_ns) < 2:
        return None
    on_path = _on_path(graph)
    whole = max(1, max(graph.at_ns) - graph.at_ns[0])
    labels = list(graph.labels)
    times: collections.Counter[Label] = collections.Counter()
    count: collections.Counter[Label] = collections.Counter()
    for label, ns in on_path:
        times[labels[label]] += ns
        count[labels[label]] += 1
    times = collections.Counter({label: ns for label, ns in times.items() if ns})
    return CriticalPath(
        step=step.name, step_ns=whole, kinds=_kinds(graph, times, whole),
        rows=[
            PathRow(kind=label[0], name=label[1], times=count[label], path_ns=ns, share=ns / whole,
                    gain_ns=whole - length_ns(graph, {graph.labels[label]}))
            for label, ns in times.most_common(_MOST_ROWS)
        ],
        others=max(0, len(times) - _MOST_ROWS),
    )  # fmt: skip


def _events_in(work: Work, step: PathStep) -> int:
    starts = work.trace.of(Category.OP, Category.RUNTIME, *ON_DEVICE)["start_ns"]
    return int(((starts >= step.start_ns) & (starts < step.end_ns)).sum())


def _kinds(graph: Graph, times: "collections.Counter[Label]", whole: int) -> list[PathShare]:
    by_kind: collections.Counter[str] = collections.Counter()
    for (kind, _), ns in times.items():
        by_kind[kind] += ns
    gain = {
        kind: whole - length_ns(graph, {n for label, n in graph.labels.items() if label[0] == kind})
        for kind in by_kind
    }
    return [
        PathShare(kind=kind, path_ns=ns, share=ns / whole, gain_ns=gain[kind])  # type: ignore[arg-type]  # a key of labels
        for kind, ns in by_kind.most_common()
    ]


def _on_path(graph: Graph) -> list[tuple[int, int]]:
    """(label, ns) of each edge, from the end to the beginning."""
    moment = max(range(len(graph.at_ns)), key=lambda each: (graph.at_ns[each], each))
    found = []
    while graph.edges[moment]:
        source, ns, label = max(
            graph.edges[moment], key=lambda edge: graph.at_ns[edge[0]] + edge[1]
        )
        found.append((label, ns))
        moment = source
    return found


def length_ns(graph: Graph, gone: set[int]) -> int:
    """How long the step would take if the edges with these labels took no time."""
    earliest: list[int] = []
    for edges in graph.edges:
        if len(edges) == 1:  # nine of ten have one, and there may be many
            source, ns, label = edges[0]
            earliest.append(earliest[source] + (0 if label in gone else ns))
        else:
            times = [earliest[source] + (0 if label in gone else ns) for source, ns, label in edges]
            earliest.append(max(times, default=0))
    return max(earliest)
