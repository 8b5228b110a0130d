"""The step waits for its batch."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.patch import with_argument
from stepscope.advise.evidence.place import OWN, PASSES, where
from stepscope.advise.evidence.user_calls import stage_call
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.loading import in_pipeline, made_before, prepared_ahead, with_workers
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.whatif import Floats, Overlap
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.input.limits import LEAST_IDLE
from stepscope.frameworks.table import words_of
from stepscope.model import InputAnswer, Location

ID: Final = "input-bound"
_LEAST_SHARE_OF_LIBRARIES: Final = 0.1  # taking the next batch always takes some work
_LEAST_SHARE_WITH_WORKERS: Final = 0.15  # they are late now and then, which is normal
_ALL: Final = 0.97  # of a step: nothing is left that could train
_MOST_WORKERS: Final = 16  # more cost memory, and wait for the disk
_TRAINS: Final = 0.05  # of the header's time in the passes: less is the edge of a phase


def judge(case: Case) -> list[Candidate]:
    if case.phase_ns("input") >= LEAST_SHARE * case.step_ns:
        return _of_phase(case)
    return _of_loop_header(case)


# --- a loader that the framework knows ------------------------------------------------------------


def _of_phase(case: Case) -> list[Candidate]:
    looks = list(case.stacks.free("input"))
    wait = case.free_ns("input")
    if wait < LEAST_SHARE * case.step_ns:
        return []
    answer = input_of(case.run, process=case.process.info.pid)
    if answer.loader and answer.loader.workers and wait < _LEAST_SHARE_WITH_WORKERS * case.step_ns:
        return []  # they load beside the step, and being late now and then is normal
    share = wait / case.step_ns
    if not answer.lines and share < _LEAST_SHARE_OF_LIBRARIES:
        return []
    location, library = _place(case, answer, looks)
    case.stacks.claim_phase("input")
    saving, fix, trial, patch = _how(case, answer, wait, location)
    return [
        Candidate(
            id=ID,
            title=f"The step waits {percent(share)} of its time for its batch",
            verdict=f"waits for its batch{at(location)}",
            share=share,
            evidence=[
                f"{ms(wait)} of the {ms(case.step_ns)} step are spent waiting for input.",
                *_loader_words(answer),
                *(
                    [_sentence(answer.why)]
                    if answer.why and _sentence(answer.why) not in fix
                    else []
                ),
                *([f"In the library, most of it in {library}."] if library else []),
            ],
            location=location,
            saving=saving,
            fix=fix,
            patch=patch,
            trial=trial,
            library=library,
            source=case.code.text(location),
        )
    ]


def _place(
    case: Case, answer: InputAnswer, looks: list[Look]
) -> tuple[Location | None, str | None]:
    if answer.loader and answer.loader.workers is None and answer.stages:
        return stage_call(case, answer.stages[0].stage) or where(case, looks)[0], None
    location, library = where(case, looks)
    if answer.lines:
        line = answer.lines[0]
        location = Location(file=line.file, line=line.line, function=line.function)
    if answer.library:
        library = answer.library[0].function
    return location, library


def _loader_words(answer: InputAnswer) -> list[str]:
    loader = answer.loader
    if loader is None:
        return []
    workers = "in the training process" if not loader.workers else f"in {loader.workers} workers"
    idle = (
        "" if answer.idle_cores is None else f"; {answer.idle_cores:.1f} cores are idle meanwhile"
    )
    return [f"Batches are loaded {workers}{idle}."]


def _how(
    case: Case, answer: InputAnswer, wait: float, location: Location | None
) -> tuple[Saving, str, str | None, str | None]:
    """What gains most on this machine: more workers where cores are idle, else less work."""
    less = prepared_ahead(wait, answer.lines[0].share if answer.lines else 1.0)
    at_line = f"Do less for each sample{at(location)}: prepare it once and keep it, decode or "
    at_line += "resize ahead of time, use array operations."
    overlap = _overlap(case, answer, wait)
    if answer.loader and answer.loader.workers is None:
        return _of_pipeline(case, answer, wait)
    if overlap is None or answer.limit in ("transfer", "start-up"):
        return less, _sentence(answer.why) if answer.why else at_line, None, None
    now = answer.loader.workers if answer.loader and answer.loader.workers else 0
    most = max(now + 1, min(_MOST_WORKERS, int(case.machine.cores) + now))
    best, step_ns = overlap.best(range(now + 1, most + 1), case.step_ns)
    gain = max(0.0, min(wait, case.step_ns - step_ns))
    if case.machine.idle_cores < LEAST_IDLE:
        words = f"No core is idle, so more workers gain nothing. {at_line}"
        return less, words, "cache-samples", None
    if gain < less.least:
        return less, at_line, "cache-samples", None
    saving = with_workers(wait, gain, less)
    fix = f"Load in {best} other process{'es' if best > 1 else ''}: DataLoader(…, "
    fix += f"num_workers={best}, persistent_workers=True). {at_line}"
    return saving, fix, "num-workers", _patch(case, best)


def _of_pipeline(
    case: Case, answer: InputAnswer, wait: float
) -> tuple[Saving, str, str | None, str | None]:
    """For tf.data: more work beside the step, and a cache for what is the same in every epoch."""
    idle_part = case.machine.idle_cores / case.machine.cores
    words = _sentence(answer.why) if answer.why else "Prepare batches during the steps: prefetch."
    if case.machine.idle_cores < LEAST_IDLE:
        words = f"No core is idle, so loading in parallel with the step gains little. {words}"
    words += " Keep what is the same in every epoch: cache() before shuffle and random changes."
    trial = words_of("tensorflow").waiting_for_input.trial  # whatever trains on its batches
    return in_pipeline(wait, case.step_ns, idle_part), words, trial, None


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _overlap(case: Case, answer: InputAnswer, wait: float) -> Overlap | None:
    loader = answer.loader
    if loader is None or loader.workers is None:
        return None
    waits = case.phase_by_step("input").astype(np.float64)
    rest = case.measured_ns - waits
    fetch_ms = sum(row.ms_per_batch for row in answer.stages if row.stage in ("fetch", "collate"))
    load = np.full(len(rest), fetch_ms * 1e6) if loader.workers else waits
    return _beside(case, load, rest)


def _beside(case: Case, load: Floats, rest: Floats) -> Overlap:
    """What the process computes in a step, minus the loading, belongs to the rest."""
    used = (case.machine.cores - case.machine.idle_cores) * case.step_ns
    rest_cpu_ns = max(float(rest.mean()), used - float(load.mean()))
    return Overlap(load, rest, rest_cpu_ns, case.machine.cores)


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


def _of_loop_header(case: Case) -> list[Candidate]:
    """`for batch in batches(...)`: what happens in the loop's header is waiting for its batch."""
    header = case.code.step_header
    if header is None:
        return []
    looks = [
        look
        for look in case.stacks.free()
        if any(case.code.place(frame) == header for frame in look.users)
        and _goes_deeper(case, look, header)
    ]
    share = case.stacks.sure_share(looks)
    if share < LEAST_SHARE or _trains(case, looks, share):
        return []
    location, library = where(case, [_below(case, look, header) for look in looks], looks)
    looks += [each for each in case.stacks.free(*OWN) if each.users and _is_at(case, each, header)]
    share = case.stacks.sure_share(looks)
    mine = set(looks)
    case.stacks.claim(lambda look: look in mine)
    wait = share * case.step_ns
    rest = np.asarray(case.measured_ns - wait, np.float64)
    overlap = _beside(case, np.full(len(rest), wait), rest)
    ahead = max(0.0, min(wait, case.step_ns - overlap.step_ns(1)))
    error = case.stacks.time.error(share) * case.step_ns
    return [
        Candidate(
            id=ID,
            title=f"The step waits {percent(share)} of its time for its batch",
            verdict=f"waits for its batch{at(location)}",
            share=share,
            evidence=[
                f"{ms(wait)} of the {ms(case.step_ns)} step are spent before its batch is "
                f"there{at(location)}.",
                *([f"Most of it in {library}."] if library else []),
            ],
            location=location,
            saving=made_before(wait, ahead, error),
            fix="Prepare the batches once, before the loop, or with array operations on the whole "
            "batch; or make the next batch in another process while this one trains.",
            trial="free-input",
            library=library,
            source=case.code.text(location),
        )
    ]


def _trains(case: Case, looks: list[Look], share: float) -> bool:
    """`for loss in train(...)`: a generator that does the step's own work."""
    if not case.is_framework:
        return share > _ALL
    return case.stacks.share(look for look in looks if look.phase in PASSES) > _TRAINS * share


def _is_at(case: Case, look: Look, header: Location) -> bool:
    """In the header itself: the batch before is freed there."""
    return case.code.place(look.users[-1]) == header


def _goes_deeper(case: Case, look: Look, header: Location) -> bool:
    return bool(_below(case, look, header).users)


def _below(case: Case, look: Look, header: Location) -> Look:
    """The part of a stack that the header called."""
    places = [frame.is_users and case.code.place(frame) == header for frame in look.frames]
    return Look(look.phase, look.frames[places.index(True) + 1 :], look.ns)
