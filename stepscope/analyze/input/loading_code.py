"""Which of the user's lines load the data, and in which library functions they spend the time."""

import collections
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from stepscope.analyze.code.hottest_lines import hottest_lines
from stepscope.analyze.code.lines import lines
from stepscope.analyze.code.possible_callees import MODULE
from stepscope.analyze.code.sampled_stacks import Stack, stacks_of, time_by_node
from stepscope.analyze.input.loaders import stage_spans
from stepscope.analyze.libraries import library_of, users_files
from stepscope.analyze.run import shown_path
from stepscope.model import FunctionLines, InputFunction, InputLine
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import FunctionName

# What calls the user's own code for the next batch: torch's loader, and what tf.data and Keras make
# of a generator, a Sequence or a PyDataset (in the graph's threads, or in Keras' own).
_FETCHERS: Final = {
    "/torch/utils/data/_utils/fetch.py": ("fetch",),
    "/tensorflow/python/data/ops/from_generator_op.py": ("generator_py_func",),
    "/keras/src/trainers/data_adapters/py_dataset_adapter.py": (
        "_finite_generator", "_infinite_generator", "get_index",
    ),
}  # fmt: skip
NOT_COUNTED: Final = (
    "The reader is called for moments only, in which no look found it: the times of its lines that "
    "were thinned out are not known. 'stepscope run --exact' counts all."
)
_ENTRIES: Final = ("__getitem__", "__getitems__", "__iter__", "__next__")
_LEAST_SHARE: Final = 0.01
_MOST: Final = 10
_MOST_OF_IT: Final = 0.6  # of the loading: below that it is no longer one place

Place = tuple[str, str]  # file as shown, qualified name


@dataclasses.dataclass(frozen=True)
class Loading:
    """All that these processes loaded in their lives."""

    processes: list[ProcessData]
    batches: int
    ns: int  # in fetch, with collate
    in_workers: bool  # which do nothing but load
    is_unseen: bool = False  # on no stack


def loading(processes: list[ProcessData], *, in_workers: bool) -> Loading:
    batches = total_ns = 0
    for process in processes:
        spans = stage_spans(process, "fetch")
        start, end = spans.interval_ns
        batches += len(spans)
        total_ns += int((end - start).sum())
    return Loading(processes, batches, total_ns, in_workers)


def generating(run: Run, process: ProcessData, batches: int) -> Loading | None:
    """The user's own reader behind a tf.data pipeline. A graph may call it so often and so shortly
    that no look finds it there: then it is what ran in most steps and was seen nowhere."""
    seen = _seen(run, [process])
    ns = sum(ns for _, begins, ns in _stacks(process) if begins is not None)
    if seen.loading:
        return Loading([process], batches, ns, in_workers=False)
    unseen = [
        each
        for each in lines(dataclasses.replace(run, processes=[process])).functions
        if each.function != MODULE
        and (each.file, each.function) not in seen.elsewhere
        and 2 * max((row.hits for row in each.lines), default=0) >= batches
    ]
    if not unseen or not batches:
        return None
    ns = max(each.total_ns for each in unseen)
    return Loading([process], batches, ns, in_workers=False, is_unseen=True)


def loading_lines(run: Run, loading: Loading) -> list[InputLine]:
    """The lines that spend the time themselves, the hottest first; before them, those of the
    function that most of the loading was seen in: a line that only calls it, by whatever name,
    takes as long."""
    if not loading.batches or not loading.ns:
        return []
    answer = lines(dataclasses.replace(run, processes=loading.processes))
    seen = _seen(run, loading.processes)
    is_rest = loading.in_workers or loading.is_unseen
    kept = [each for each in answer.functions if _loads(each, seen, is_rest=is_rest)]
    kept = (_counted(kept) if loading.is_unseen else []) or kept
    found = [
        InputLine(
            file=hot.location.file,
            line=hot.location.line,
            function=hot.location.function,
            ms_per_batch=hot.ns / loading.batches / 1e6,
            share=min(1.0, hot.ns / loading.ns),
            source=hot.source,
        )
        for hot in hottest_lines(msgspec.structs.replace(answer, functions=kept))
        if hot.ns >= _LEAST_SHARE * loading.ns
    ]
    place = place_with_most(_seen_inside(run, loading.processes))
    return sorted(found, key=lambda line: (line.file, line.function) != place)


def _counted(functions: list[FunctionLines]) -> list[FunctionLines]:
    """With the lines that were counted to the end. What is thinned out has its time from samples,
    and there are none."""
    found = []
    for each in functions:
        rows = [row for row in each.lines if not row.estimated]
        if rows:
            total_ns = sum(row.ns for row in rows)
            found.append(msgspec.structs.replace(each, lines=rows, total_ns=total_ns))
    return found


def has_uncounted(run: Run, loading: Loading) -> bool:
    """Whether lines that load have no known time."""
    if not loading.is_unseen:
        return False
    seen = _seen(run, loading.processes)
    answer = lines(dataclasses.replace(run, processes=loading.processes))
    return any(
        row.estimated
        for each in answer.functions
        if _loads(each, seen, is_rest=True)
        for row in each.lines
    )


def _seen_inside(run: Run, processes: list[ProcessData]) -> list[tuple[list[Place], int]]:
    """The user's functions that the loader called, outermost first, and how long for."""
    found = []
    for process in processes:
        users = users_files(process)
        for stack, begins, ns in _stacks(process):
            below = () if begins is None else stack[begins:]
            places = [(shown_path(run, e.file), e.name) for e in below if e.file in users]
            if places:
                found.append((places, ns))
    return found


def place_with_most(inside: Sequence[tuple[list[Place], float]]) -> Place | None:
    """From what the loader calls inwards, as long as one function has most of the time."""
    best, depth, whole = None, 0, sum(ns for _, ns in inside)
    while inside:
        spent: dict[Place, float] = collections.defaultdict(float)
        for places, ns in inside:
            spent[places[depth]] += ns
        top = max(spent, key=lambda place: spent[place])
        if best is not None and spent[top] < _MOST_OF_IT * whole:
            break
        inside = [(each, ns) for each, ns in inside if each[depth] == top]
        best, depth = top, depth + 1
        inside = [(each, ns) for each, ns in inside if len(each) > depth]
    return best


@dataclasses.dataclass(frozen=True)
class _Seen:
    """Where the samples saw the functions."""

    loading: set[Place]
    elsewhere: set[Place]


def _loads(function: FunctionLines, seen: _Seen, *, is_rest: bool) -> bool:
    """In a worker, all but what was seen only elsewhere (its start); in the training process, what
    was seen below the loader and what the loader calls. `is_rest`: what was not seen, too."""
    if function.function == MODULE:
        return False
    place = function.file, function.function
    if is_rest:
        return place in seen.loading or place not in seen.elsewhere
    return place in seen.loading or function.function.rpartition(".")[2] in _ENTRIES


def _seen(run: Run, processes: list[ProcessData]) -> _Seen:
    loading: set[FunctionName] = set()
    elsewhere: set[FunctionName] = set()
    for process in processes:
        users = users_files(process)
        for stack, begins, _ in _stacks(process):
            elsewhere.update(stack if begins is None else stack[:begins])
            inner = () if begins is None else stack[begins:]
            loading.update(each for each in inner if each.file in users)
    return _Seen(_places(run, loading), _places(run, elsewhere))


def _places(run: Run, functions: set[FunctionName]) -> set[Place]:
    return {(shown_path(run, each.file), each.name) for each in functions}


def _stacks(process: ProcessData) -> Iterator[tuple[Stack, int | None, int]]:
    """Each stack, the index of the first frame that was called to fetch a batch (None: there is
    none), and for how long it was seen."""
    found = stacks_of(process)
    names = process.names.functions.values()
    fetch = {each.id for each in names if _is_fetcher(each)}
    for seen in found.by_thread():
        for node, ns in time_by_node(seen).items():
            stack = found.stack(node)
            fetchers = [index for index, each in enumerate(stack) if each.id in fetch]
            yield stack, fetchers[-1] + 1 if fetchers else None, ns


def _is_fetcher(function: FunctionName) -> bool:
    last = function.name.rpartition(".")[2]
    return any(function.file.endswith(file) and last in names for file, names in _FETCHERS.items())


def library_functions(run: Run, loading: Loading) -> list[InputFunction]:
    """By the function that the user's innermost frame calls, or the loader without such a frame."""
    spent: dict[FunctionName, int] = {}
    total_ns = 0
    for process in loading.processes:
        users = users_files(process)
        for stack, begins, ns in _stacks(process):
            if begins is None:
                continue
            total_ns += ns
            function = _called_in_library(stack[begins:], users)
            if function is not None:
                key = msgspec.structs.replace(function, id=0)
                spent[key] = spent.get(key, 0) + ns
    rows = [
        InputFunction(
            function=each.name, file=shown_path(run, each.file), share=ns / max(1, total_ns)
        )
        for each, ns in sorted(spent.items(), key=lambda item: -item[1])
    ]
    return [row for row in rows if row.share >= _LEAST_SHARE][:_MOST]


def _called_in_library(stack: Stack, users: set[str]) -> FunctionName | None:
    own = [i for i, each in enumerate(stack) if library_of(each.file, users) is None]
    called = stack[own[-1] + 1 :] if own else stack
    return called[0] if called else None
