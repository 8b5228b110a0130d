"""NumPy or Python code that a graph calls."""

from typing import Final

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.graph_calls import calls_python, python_calls
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import HALF, Saving
from stepscope.advise.rules.input_bound import ID as INPUT_BOUND
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.input.tf_data import is_own_reader
from stepscope.model import Location

ID: Final = "python-in-graph"


def judge(case: Case) -> list[Candidate]:
    if not any(
        "/tensorflow/" in f.function.file for look in case.stacks.time.looks for f in look.frames
    ):
        raise CannotJudge("no graph of TensorFlow in this run")
    window = case.operators
    calls = python_calls(case)
    cost = float(window.part.tree.events["duration_ns"][calls].sum()) / window.steps
    waits = case.phase_ns("input") + case.phase_ns("compute")
    cost = min(cost / max(1.0, window.slowdown), waits)
    share = cost / case.step_ns
    if share < LEAST_SHARE:
        return []
    in_pipeline = calls_python(case)
    answer = input_of(case.run, process=case.process.info.pid)
    if in_pipeline and is_own_reader(answer):
        return []  # a reader in Python, which the pipeline was made of: see input-bound
    location = window.place(calls) or _called_back(case)
    case.stacks.claim(lambda look: _is_at(case, look, location))
    if location is not None and location.function is not None:
        case.stacks.claimed_functions.add((location.file, location.function))
    return [
        Candidate(
            id=ID,
            title="Python code runs inside the graph",
            verdict=f"is Python code inside the graph{at(location)}",
            share=share,
            evidence=[
                f"{counted(window.count(calls), 'call')} a step from the graph back "
                f"into Python, {ms(cost)} of the {ms(case.step_ns)} step ({percent(share)}); "
                "they hold the interpreter's lock, one at a time.",
            ],
            location=location,
            saving=_saving(cost, in_pipeline=in_pipeline),
            same_time_as=INPUT_BOUND if in_pipeline else None,
            fix="Use TensorFlow's own operations instead of tf.py_function or "
            "tf.numpy_function, or do it once, before the data set is made.",
            source=case.code.text(location),
        )
    ]


def _saving(cost: float, *, in_pipeline: bool) -> Saving:
    """What the calls do for the batches still has to be done: half of it, and more may stay."""
    return Saving.part_of(cost, expected=HALF, least=0.0) if in_pipeline else Saving.without(cost)


def _called_back(case: Case) -> Location | None:
    """The user's function that the graph calls, from its own thread: its lines are hit, but are on
    no stack of the steps' thread. Of several, the most expensive line."""
    seen = {
        (case.code.shown(f), f.function.name) for look in case.stacks.time.looks for f in look.users
    }
    often = 0.5 * len(case.steps)  # in most steps
    found = [
        (row.ns, Location(file=function.file, line=row.line, function=function.function))
        for function in case.code.functions
        if (function.file, function.function) not in seen
        for row in function.lines
        if row.hits >= often
    ]
    return max(found, key=lambda each: each[0], default=(0, None))[1]


def _is_at(case: Case, look: Look, location: Location | None) -> bool:
    return location is not None and any(case.code.is_in(frame, location) for frame in look.users)
