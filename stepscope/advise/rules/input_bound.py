"""The step waits for its batch."""

import dataclasses
from typing import Final

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.graph_calls import calls_python
from stepscope.advise.evidence.hot_loops import HotLoop
from stepscope.advise.evidence.own_batches import making_batches
from stepscope.advise.evidence.patch import with_argument
from stepscope.advise.evidence.place import trains, where
from stepscope.advise.evidence.sampler import in_sampler
from stepscope.advise.evidence.user_calls import stage_call
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.less_loading import LessLoading
from stepscope.advise.gain.loading import in_pipeline, less_of, with_workers
from stepscope.advise.gain.loading_loop import loading_loop
from stepscope.advise.gain.overlap import Overlap
from stepscope.advise.gain.own_wait import own_wait_ns
from stepscope.advise.gain.prepared_samples import prepared_samples
from stepscope.advise.gain.saving import HALF, Saving
from stepscope.advise.gain.workers import numbers_to_try, overlap_of
from stepscope.advise.rules.slow_outlier_steps import late_batches_ns
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.input.loaders import find_loader
from stepscope.analyze.input.ready_batches import hand_over as hand_over_of
from stepscope.analyze.input.tf_data import avoidable_ns, is_own_reader
from stepscope.frameworks.table import words_of
from stepscope.model import InputAnswer, InputLine, Location

ID: Final = "input-bound"
_LEAST_OF_LOADING: Final = 0.1  # in one function of a library: with less, the user's own code loads
_LEAST_SHOWN: Final = 0.05  # cores: less is written as none


@dataclasses.dataclass(frozen=True)
class _Fix:
    saving: Saving
    words: str
    trial: str | None = None
    patch: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Wait:
    """What a step waits, and what may be done about it."""

    ns: float  # as in the breakdown: in a typical step
    avoidable_ns: float  # of all waiting, that in slow steps included
    looks: list[Look]
    location: Location | None
    library: str | None
    evidence: list[str]
    fix: _Fix


def judge(case: Case) -> list[Candidate]:
    ways = (_of_loader, _of_generator) if _has_loader(case) else (_of_generator, _of_loader)
    found = (find(case) for find in ways)
    wait = next((each for each in found if each and _matters(case, each.avoidable_ns)), None)
    if wait is None:
        return []
    mine = set(wait.looks)
    case.stacks.claim(lambda look: look in mine)
    return [_candidate(case, wait)]


def _matters(case: Case, ns: float) -> bool:
    return ns >= LEAST_SHARE * case.step_ns


def _candidate(case: Case, wait: _Wait) -> Candidate:
    share = wait.ns / case.step_ns
    return Candidate(
        id=ID,
        title=f"Waiting for the batch takes {percent(share)} of step time",
        verdict=f"is spent waiting for the batch{at(wait.location)}",
        share=share,
        evidence=[*wait.evidence, *_what_stays(case, wait)],
        location=wait.location,
        saving=wait.fix.saving.limited_to(wait.avoidable_ns),
        fix=wait.fix.words,
        patch=wait.fix.patch,
        trial=wait.fix.trial,
        library=wait.library,
        source=case.code.text(wait.location),
    )


def _what_stays(case: Case, wait: _Wait) -> list[str]:
    """Said if it makes a difference."""
    if percent(min(wait.avoidable_ns, wait.ns) / case.step_ns) == percent(wait.ns / case.step_ns):
        return []
    return [
        f"At most {ms(wait.avoidable_ns)} of that can go away: the rest is taking ready batches."
    ]


# --- a loader that the framework knows ------------------------------------------------------------


def _of_loader(case: Case) -> _Wait | None:
    usual = case.free_ns("input")
    if not _matters(case, usual):
        return None
    late = float(late_batches_ns(case).mean())
    wait = usual + late
    looks = list(case.stacks.free("input", slow=late > 0))
    answer = input_of(case.run, process=case.process.info.pid)
    if (sampled := _of_sampler(case, wait, looks)) is not None:
        return dataclasses.replace(sampled, ns=usual)
    location, library = _place(case, answer, looks)
    hand_over = hand_over_of(case.run, case.process, case.steps)
    fix = _how(case, answer, wait, location, hand_over.step_ns)
    why = [_sentence(answer.why)] if answer.why else []
    return _Wait(
        ns=usual,
        avoidable_ns=_avoidable_ns(case, answer, wait, looks, hand_over.step_ns),
        looks=looks,
        location=location,
        library=library,
        evidence=[
            f"{ms(usual)} of the {ms(case.step_ns)} step are spent waiting for input.",
            *([f"{ms(late)} more are what slow steps waited beyond that."] if late else []),
            *_loader_words(answer),
            *(each for each in why if each not in fix.words),
            *([f"In the library, most of it in {library}."] if library else []),
        ],
        fix=fix,
    )


def _has_loader(case: Case) -> bool:
    """Whether the framework knows what the steps wait for."""
    answer = input_of(case.run, process=case.process.info.pid)
    is_pipeline = answer.loader is not None and answer.loader.workers is None
    return is_pipeline or find_loader(case.run, case.process, case.steps) is not None


def _of_sampler(case: Case, wait: float, looks: list[Look]) -> _Wait | None:
    """Where most of the wait is for it: workers do not take it over."""
    chosen = in_sampler(looks)
    share = case.stacks.sure_share(chosen)
    if not share or share < HALF * case.stacks.share(looks):
        return None
    cost = share * case.step_ns
    location, library = where(case, chosen)
    return _Wait(
        ns=wait,
        avoidable_ns=wait,
        looks=looks,
        location=location,
        library=library,
        evidence=[
            f"{ms(wait)} of the {ms(case.step_ns)} step are spent waiting for input, {ms(cost)} of "
            f"that in the sampler{at(location)}.",
            "The sampler runs in the training process, with workers or without.",
            *([f"Most of it in {library}."] if library else []),
        ],
        fix=_Fix(
            Saving.without(cost, error_ns=case.stacks.time.error(share) * case.step_ns),
            f"Choose the samples with less work{at(location)}: once for an epoch, or for the whole "
            "training, and not for each batch. Workers do not help: they only load what it chose.",
            "free-input",
        ),
    )


def _avoidable_ns(
    case: Case, answer: InputAnswer, wait: float, looks: list[Look], hand_over_ns: float
) -> float:
    """All but taking batches that are ready. With tf.data that is what its stages do not explain.
    Otherwise workers hand them over, which costs more than loading if there is little to load. What
    the user's own code does in the training process can be less in any case."""
    loader = answer.loader
    if loader and loader.workers is None:
        return avoidable_ns(case.process, case.steps, wait)
    if loader and loader.workers:
        return min(wait - hand_over_ns, own_wait_ns(case, loader.workers, hand_over_ns))
    own = min(1.0, sum(each.share for each in answer.lines)) if loader else _own_part(case, looks)
    return max(own * wait, wait - hand_over_ns)


def _own_part(case: Case, looks: list[Look]) -> float:
    """How much of the looks is in a function of the user's that only loads."""
    location, _ = where(case, looks)
    inside = case.stacks.inside(location) if location else []
    if not inside or trains(case, inside):
        return 0.0
    return case.stacks.share(set(looks) & set(inside)) / case.stacks.share(looks)


def _place(
    case: Case, answer: InputAnswer, looks: list[Look]
) -> tuple[Location | None, str | None]:
    location, library = where(case, looks)
    if answer.loader and answer.loader.workers is None and answer.stages and not answer.lines:
        return stage_call(case, answer.stages[0].stage) or location, None
    line = _hottest(answer)
    if line is not None:
        location = _at_line(line)
    if answer.library and answer.library[0].share >= _LEAST_OF_LOADING:
        library = answer.library[0].function
    return location, library


def _hottest(answer: InputAnswer) -> InputLine | None:
    """The line that `show input` names, too."""
    return next(iter(answer.lines), None)


def _at_line(line: InputLine) -> Location:
    return Location(file=line.file, line=line.line, function=line.function)


def _loader_words(answer: InputAnswer) -> list[str]:
    loader = answer.loader
    if loader is None:
        return []
    workers = "in the training process" if not loader.workers else f"in {loader.workers} workers"
    return [f"Batches are loaded {workers}; {_idle_words(answer.idle_cores)}."]


def _idle_words(idle_cores: float | None) -> str:
    if idle_cores is None:
        return "whether cores are idle meanwhile was not recorded"
    if idle_cores < _LEAST_SHOWN:
        return "no core is idle meanwhile"
    return f"{idle_cores:.1f} cores are idle meanwhile"


def _how(
    case: Case, answer: InputAnswer, wait: float, location: Location | None, hand_over_ns: float
) -> _Fix:
    """What gains most on this machine: more workers where cores are idle, else less work."""
    if answer.loader and answer.loader.workers is None:
        return _of_reader(case, answer, wait) or _of_pipeline(case, answer, wait)
    overlap = overlap_of(case, hand_over_ns * case.machine.with_core) if answer.loader else None
    less = _less_work(case, answer, wait, location, overlap)
    if overlap is None or answer.limit in ("transfer", "start-up"):
        why = _sentence(answer.why) if answer.why else less.words
        return dataclasses.replace(less, words=why, trial=None)
    now = answer.loader.workers if answer.loader and answer.loader.workers else 0
    best = overlap.best(numbers_to_try(overlap, now), now)
    gain = min(wait, overlap.gained(best, now) * case.step_ns)
    if gain < less.saving.expected:
        full = "No core is idle, so more workers gain nothing. " if case.machine.is_full else ""
        return dataclasses.replace(less, words=f"{full}{less.words}")
    least = overlap.least_gained(best, now) * case.step_ns
    saving = with_workers(wait, gain, 0.0 if case.machine.idle_cores is None else least)
    fix = f"Load in {best} other process{'es' if best > 1 else ''}: DataLoader(…, "
    fix += f"num_workers={best}, persistent_workers=True). {less.words}"
    return _Fix(saving, fix, "num-workers", _patch(case, best))


def _less_work(
    case: Case,
    answer: InputAnswer,
    wait: float,
    location: Location | None,
    overlap: Overlap | None,
) -> _Fix:
    """A loop over elements written as array operations, if most of the loading is one; else what
    can be prepared once."""
    loop = loading_loop(case, answer)
    if loop is not None and loop.saved.expected >= HALF * loop.load_ns:
        return _Fix(_less(case, answer, wait, loop, overlap), _of_loop(loop.loop), "cache-samples")
    prepared = prepared_samples(case, answer, _hottest(answer))
    saving = _less(case, answer, wait, prepared, overlap) if prepared else less_of(wait)
    words = f"Do less for each sample{at(location)}: prepare it once and keep it, decode or resize "
    return _Fix(saving, f"{words}ahead of time, use array operations.", "cache-samples")


def _less(
    case: Case, answer: InputAnswer, wait: float, less: LessLoading, overlap: Overlap | None
) -> Saving:
    workers = answer.loader.workers if answer.loader else None
    if not workers:
        return less.in_step(wait)
    return less.in_workers(overlap, workers, case.step_ns) if overlap else less_of(wait)


def _of_loop(loop: HotLoop | None) -> str:
    turns = counted(loop.turns or 0.0 if loop else 0.0, "turn")
    words = f"A loop in Python goes through the elements one by one, {turns} a batch"
    words += f"{at(loop.hottest.location if loop else None)}: do it for all of them at once, with "
    return words + "array operations, or once, before the training."


def _of_reader(case: Case, answer: InputAnswer, wait: float) -> _Fix | None:
    """For a generator, Sequence or PyDataset of the user's: it makes one batch at a time, in
    Python, which the pipeline around it does not make faster."""
    line = _hottest(answer)
    if line is None or not is_own_reader(answer):
        return None
    location = _at_line(line)
    loop = loading_loop(case, answer)
    if loop is not None and loop.saved.expected >= HALF * loop.load_ns:
        return _Fix(loop.in_reader(wait), _of_loop(loop.loop), "cache-samples")
    words = f"Do less for each batch{at(location)}: prepare it once, before the training, or "
    return _Fix(less_of(wait), f"{words}use array operations.", "cache-samples")


def _of_pipeline(case: Case, answer: InputAnswer, wait: float) -> _Fix:
    """For tf.data: more work beside the step, and a cache for what is the same in every epoch."""
    words = _sentence(answer.why) if answer.why else "Prepare batches during the steps: prefetch."
    if case.machine.is_full:
        words = f"No core is idle, so loading in parallel with the step gains little. {words}"
    words += " Keep what is the same in every epoch: cache() before shuffle and random changes."
    trial = words_of("tensorflow").waiting_for_input.trial  # whatever trains on its batches
    is_known = case.machine.idle_cores is not None
    cores = case.machine.usable_cores if is_known else 1.0
    saving = in_pipeline(
        wait,
        case.step_ns,
        computed_ns=_computed_ns(case),
        cores=cores,
        # Python holds the interpreter's lock, but not in all that it calls: half way.
        parallel=(1 + cores) / 2 if calls_python(case) else cores,
    )
    return _Fix(saving, words, trial)


def _computed_ns(case: Case) -> float:
    """In a step, by all threads, the stages of the pipeline included: what the recorded operators
    took themselves. CPU time does not say: the threads of TensorFlow spin while they wait. Where
    none were recorded, all of the step."""
    try:
        window = case.operators
    except CannotJudge:
        return case.step_ns
    return float(window.self_ns.sum()) / window.steps / case.machine.with_core


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _patch(case: Case, workers: int) -> str | None:
    for file in case.code.sources.files:
        text = case.code.sources.text(file)
        if text is not None and text.tree is not None:
            found = with_argument(
                file, text, lambda name: name == "DataLoader", "num_workers", str(workers)
            )
            if found:
                return found
    return None


# --- the user's own generator ---------------------------------------------------------------------


def _of_generator(case: Case) -> _Wait | None:
    made = making_batches(case)
    if made is None:
        return None
    share = case.stacks.sure_share(made.looks)
    wait = case.free_ns("input") or share * case.step_ns
    line = _hottest(input_of(case.run, process=case.process.info.pid))
    location = _at_line(line) if line else made.location
    return _Wait(
        ns=wait,
        avoidable_ns=wait,
        looks=made.looks,
        location=location,
        library=made.library,
        evidence=[
            f"{ms(wait)} of the {ms(case.step_ns)} step are spent before its batch is "
            f"there{at(location)}.",
            *([f"Most of it in {made.library}."] if made.library else []),
        ],
        fix=_Fix(
            Saving.without(wait, error_ns=case.stacks.time.error(share) * case.step_ns),
            "Prepare the batches once, before the loop, or with array operations on the whole "
            "batch; or make the next batch in another process while this one trains.",
            "free-input",
        ),
    )
