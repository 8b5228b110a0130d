"""Who called whom, as far as the samples saw it: estimated times, and no numbers of calls."""

import collections
import itertools

import msgspec

from stepscope.analyze.code.sampled_stacks import stacks_of, time_by_node
from stepscope.analyze.run import shown_path
from stepscope.model import CallRow, FunctionRow
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import FunctionName

Place = tuple[str, int, str]  # file, first line, name
Pair = tuple[Place, Place]  # caller, callee


class SampledCalls:
    """Time by caller and callee, of all threads and of several processes."""

    def __init__(self) -> None:
        self._own_ns: collections.Counter[Pair] = collections.Counter()
        self._all_ns: collections.Counter[Pair] = collections.Counter()

    def add(self, run: Run, process: ProcessData) -> None:
        """A pair that is several times in a stack counts once."""
        found = stacks_of(process)
        places: dict[FunctionName, Place] = {}
        for seen in found.by_thread():
            for node, ns in time_by_node(seen).items():
                stack = [_place(run, each, places) for each in found.stack(node)]
                pairs = list(itertools.pairwise(stack))
                for pair in set(pairs):
                    self._all_ns[pair] += ns
                if pairs:
                    self._own_ns[pairs[-1]] += ns

    def put_into(self, rows: list[FunctionRow]) -> list[FunctionRow]:
        callers: dict[Place, list[CallRow]] = collections.defaultdict(list)
        callees: dict[Place, list[CallRow]] = collections.defaultdict(list)
        for (caller, callee), ns in sorted(
            self._all_ns.items(), key=lambda each: (-each[1], each[0])
        ):
            own_ns = self._own_ns[caller, callee]
            callers[callee].append(_call_row(caller, own_ns, ns))
            callees[caller].append(_call_row(callee, own_ns, ns))
        return [
            msgspec.structs.replace(row, callers=callers[place], callees=callees[place])
            for row in rows
            for place in [(row.file, row.line, row.function)]
        ]


def _place(run: Run, function: FunctionName, known: dict[FunctionName, Place]) -> Place:
    if function not in known:
        known[function] = shown_path(run, function.file), function.line, function.name
    return known[function]


def _call_row(place: Place, own_ns: int, all_ns: int) -> CallRow:
    file, line, name = place
    return CallRow(
        file=file, line=line, function=name, ncalls=None, primitive_calls=None,
        tottime_ns=own_ns, cumtime_ns=all_ns,
    )  # fmt: skip
