"""The user's own Python between the passes takes a real share, and nothing more specific fits."""

import collections
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import OWN, PASSES, where
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import HALF, Saving
from stepscope.advise.rules.counted_share import Line, counted_share
from stepscope.advise.rules.evaluation_stall import FIX as EVALUATION_FIX
from stepscope.advise.rules.evaluation_stall import ID as EVALUATION
from stepscope.advise.rules.evaluation_stall import TRIAL as EVALUATION_TRIAL
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.analyze.phases.idle_code import idle_lines
from stepscope.frameworks.table import folders
from stepscope.model import FunctionLines, Location
from stepscope.model.rare import of_steps

ID: Final = "host-code"
# Of the step. Between the passes there is always something: the loop itself, zero_grad, a counter.
_LEAST_SHARE_OF_A_LINE: Final = 0.05
_FRAMEWORKS: Final = folders()
_MODULE: Final = "/torch/nn/modules/module.py"
_WAITING: Final = (
    "/threading.py", "/queue.py", "/selectors.py", "/_base.py", "/connection.py", "/popen_fork.py",
    "/asyncio/threads.py", "/asyncio/base_events.py",
)  # fmt: skip
# Of a line's time: one that computes the loss spends most of it in operators, one that reports
# calls an operator or two to get its number.
_LEAST_OPERATORS: Final = 0.2
# Of a function's time: if that much is between the passes, the function does not train. The rest
# is for looks that fell on the edge of a phase.
_OWN: Final = 0.8
_FIX: Final = (
    "Do it less often, outside the step, or with array operations on the whole batch; code "
    "that only reports can run every N steps."
)

_Piece = tuple[str, str, int]  # file, function, line (0: the function as a whole)


def judge(case: Case) -> list[Candidate]:
    pieces = _between_passes(case) if case.is_framework else _beside_training(case)
    candidates = []
    for piece, looks in sorted(pieces.items(), key=lambda each: -sum(look.ns for look in each[1])):
        if piece[2] and _trains_mostly(case, piece):
            continue  # several statements in a line: what lies between its passes is theirs
        share = counted_share(case, looks, _lines(case, piece))
        if share >= (_LEAST_SHARE_OF_A_LINE if piece[2] else LEAST_SHARE):
            candidates.append(_candidate(case, looks, share))
    return candidates


def _lines(case: Case, piece: _Piece) -> set[Line]:
    """Of a whole function. Without a framework the breakdown has the same looks, and they agree."""
    file, function, line = piece
    if line or not case.is_framework:
        return set()
    return {
        (file, each.row.line)
        for each in case.code.lines
        if (each.function.file, each.function.function) == (file, function)
    }


def _between_passes(case: Case) -> dict[_Piece, list[Look]]:
    """By the outermost function that does nothing else; otherwise by line."""
    own = {look for look in case.stacks.time.looks if _is_between(case, look)}
    trains = _training_functions(case, own)
    pieces: dict[_Piece, list[Look]] = collections.defaultdict(list)
    for look in case.stacks.free():
        if look in own and not (_is_frameworks(look) and _key(look.users[-1]) in trains):
            pieces[_piece(case, look, trains)].append(look)
    return pieces


def _trains_mostly(case: Case, piece: _Piece) -> bool:
    """Whether most of what was seen at this line, called from it or not, is passes."""
    file, function, line = piece
    there = case.stacks.at(Location(file=file, line=line, function=function))
    passes = case.stacks.share(look for look in there if look.phase in PASSES)
    return passes > HALF * case.stacks.share(there)


def _is_frameworks(look: Look) -> bool:
    """What a trainer or a framework does on its own, called from the function that trains."""
    called = look.called
    return called is not None and any(part in called.function.file for part in _FRAMEWORKS)


def _is_between(case: Case, look: Look) -> bool:
    """Between forward and backward are the loss and whatever else the script does there: lines that
    call hardly any operators are not the loss."""
    if not look.users or _waits(look):
        return False
    if look.phase in OWN:
        return True
    in_module = any(frame.function.file.endswith(_MODULE) for frame in look.frames)
    return look.phase == "forward" and not in_module and not _computes(case, look.users[-1])


def _computes(case: Case, frame: Frame) -> bool:
    share = case.code.operator_share.get((case.code.shown(frame), frame.line))
    return share is None or share > _LEAST_OPERATORS


def _training_functions(case: Case, own: set[Look]) -> set[tuple[str, str]]:
    whole: dict[tuple[str, str], float] = collections.defaultdict(float)
    between: dict[tuple[str, str], float] = collections.defaultdict(float)
    for look in case.stacks.time.looks:
        for key in {_key(frame) for frame in look.users}:
            whole[key] += look.ns
            between[key] += look.ns * (look in own)
    return {key for key, ns in whole.items() if between[key] < _OWN * ns}


def _key(frame: Frame) -> tuple[str, str]:
    return frame.function.file, frame.function.name


def _piece(case: Case, look: Look, trains: set[tuple[str, str]]) -> _Piece:
    for frame in look.users:
        if _key(frame) not in trains:
            return case.code.shown(frame), frame.function.name, 0
    last = look.users[-1]
    return case.code.shown(last), last.function.name, last.line


def _beside_training(case: Case) -> dict[_Piece, list[Look]]:
    """Without a framework: statements of the step loop whose result no later step needs."""
    found: dict[_Piece, list[Look]] = collections.defaultdict(list)
    header = case.code.step_header
    if header is None:
        return found
    spent: dict[int, float] = collections.defaultdict(float)
    for look in case.stacks.time.looks:
        for frame in look.users:
            if case.code.is_in(frame, header):
                spent[frame.line] += look.ns
                break
    idle = idle_lines(case.code.sources, header, spent)
    for look in case.stacks.free():
        here = next((each for each in look.users if case.code.is_in(each, header)), None)
        if here is not None and here.line in idle and not _waits(look):
            found[header.file, header.function or "", idle[here.line]].append(look)
    return found


def _waits(look: Look) -> bool:
    """Whether it waits for other threads or processes; what those do is a separate question."""
    return look.frames[-1].function.file.endswith(_WAITING)


def _candidate(case: Case, looks: list[Look], share: float) -> Candidate:
    location, library = where(case, looks)
    mine = set(looks)
    case.stacks.claim(lambda look: look in mine)
    cost, error = share * case.step_ns, case.stacks.time.error(share) * case.step_ns
    evaluates = _evaluates(case, looks)
    count, measured = _steps_with(case, location), len(case.measured_ns)
    of = of_steps(count, measured)
    return Candidate(
        id=EVALUATION if evaluates else ID,
        title=f"Evaluating in {count:,} of {measured:,} steps"
        if evaluates
        else f"Your own code takes {percent(share)} of {of}",
        verdict=f"{'goes to evaluating' if evaluates else 'is spent'}{at(location)}",
        of=of,
        share=share,
        evidence=[
            f"{ms(cost)} of the {ms(case.step_ns)} step are spent{at(location)}, outside the "
            "forward and backward passes and the update.",
            *([f"Most of it in {library}."] if library else []),
        ],
        location=location,
        saving=Saving.without(cost, error_ns=error),
        fix=EVALUATION_FIX if evaluates else _FIX,
        trial=EVALUATION_TRIAL if evaluates else "skip-callback",
        library=library,
        source=case.code.text(location),
    )


def _steps_with(case: Case, location: Location | None) -> int:
    """How many measured steps have it, by the calls of the function; in a function that the steps
    happen in, by the hits of the line. All if that is not known."""
    header, measured = case.code.step_header, len(case.measured_ns)
    line = next((each for each in case.code.lines if each.location == location), None)
    if line is None:
        return measured
    is_loops = header is not None and header.function == line.function.function
    is_loops |= _is_around(case, line.function)
    hits = line.row.hits if is_loops else line.function.calls or line.row.hits
    return min(measured, max(1, round(hits / max(1, len(case.steps)) * measured)))


def _is_around(case: Case, function: FunctionLines) -> bool:
    """Whether steps happen in it: it is called far less often than they come, and takes their
    time."""
    calls = function.calls or len(case.steps)
    steps_ns = float(case.steps.duration_ns.sum())
    return 2 * calls < len(case.steps) and function.total_ns > HALF * steps_ns


def _evaluates(case: Case, looks: list[Look]) -> bool:
    """Whether the breakdown says so, too."""
    evaluation = case.stacks.share(look for look in looks if look.phase == "evaluation")
    return evaluation > HALF * case.stacks.share(looks)
