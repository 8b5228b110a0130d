"""A result is computed again in every step though nothing that it depends on changes."""

import ast
import collections
from collections.abc import Mapping
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.source import Function, Text
from stepscope.advise.evidence.unchanging.unchanging import Piece, Unchanging
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.loading import read_once
from stepscope.advise.gain.saving import HALF
from stepscope.advise.rules.counted_share import Line, counted_share
from stepscope.advise.rules.host_code import ID
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.analyze.source_text import starts_at

_BESIDE: Final = ("gc", "profiler")  # they happen wherever the thread is
_FIX: Final = (
    "Compute it once, before the loop or where the object is made, and keep it. If it depends on a "
    "shape, keep one for each shape: functools.cache."
)

_Pieces = Mapping[int, Piece]  # by line


def judge(case: Case) -> list[Candidate]:
    hot, unchanging = _hot(case), Unchanging(case.code.sources)
    known: dict[tuple[str, int], _Pieces] = {}
    found: dict[tuple[str, Piece], list[Look]] = collections.defaultdict(list)
    lines: dict[tuple[str, Piece], set[Line]] = collections.defaultdict(set)
    for look in case.stacks.free():
        if look.phase in _BESIDE:
            continue
        for number, frame in enumerate(look.users):
            key = frame.function.file, frame.function.line
            if key in hot and key not in known:
                known[key] = _pieces(case, unchanging, frame)
            piece = known.get(key, {}).get(frame.line)
            if piece is not None and _is_there(piece, look.users[number + 1 :]):
                found[frame.function.file, piece].append(look)
                lines[frame.function.file, piece].add((case.code.shown(frame), frame.line))
                break
    shares = ((counted_share(case, looks, lines[key]), looks) for key, looks in found.items())
    return [_candidate(case, looks, share) for share, looks in shares if share >= LEAST_SHARE]


def _hot(case: Case) -> set[tuple[str, int]]:
    """Functions that take enough to matter: only their source is read."""
    spent: dict[tuple[str, int], float] = collections.defaultdict(float)
    for look in case.stacks.free():
        for key in {(frame.function.file, frame.function.line) for frame in look.users}:
            spent[key] += look.ns
    return {key for key, ns in spent.items() if ns >= LEAST_SHARE * case.stacks.time.total_ns}


def _pieces(case: Case, unchanging: Unchanging, frame: Frame) -> _Pieces:
    file, header = case.code.shown(frame), case.code.step_header
    text = case.code.sources.text(file)
    if text is None:
        return {}
    if header is not None and case.code.is_in(frame, header):
        loop = next((each for each in text.loops() if starts_at(each, header.line)), None)
        return unchanging.in_loop(text, loop) if loop else {}
    function = _function(text, frame)
    if function is None or not _is_in_steps(case, file, frame):
        return {}
    return unchanging.in_function(text, function)


def _function(text: Text, frame: Frame) -> Function | None:
    """Not a generator: what it has made is still there in the next step."""
    for each in text.functions():
        lines = [each.lineno, *(decorator.lineno for decorator in each.decorator_list)]
        if min(lines) == frame.function.line:
            yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(each))
            return None if yields else each
    return None


def _is_in_steps(case: Case, file: str, frame: Frame) -> bool:
    """Whether it is called in most steps; what is called less often may be around them."""
    for each in case.code.functions:
        if each.file == file and each.first_line == frame.function.line:
            calls = each.calls or max((row.hits for row in each.lines), default=0)
            return calls >= HALF * len(case.steps)
    return False


def _is_there(piece: Piece, inner: tuple[Frame, ...]) -> bool:
    """Whether a look at its line is at it: a line may do more than that call."""
    if piece.called is None:
        return True
    return bool(inner) and inner[0].function.name.rpartition(".")[2] == piece.called


def _candidate(case: Case, looks: list[Look], share: float) -> Candidate:
    location, library = where(case, looks)
    mine = set(looks)
    case.stacks.claim(lambda look: look in mine)
    cost, error = share * case.step_ns, case.stacks.time.error(share) * case.step_ns
    return Candidate(
        id=ID,
        title=f"The same result is computed in every step: {percent(share)} of step time",
        verdict=f"goes to computing the same result again{at(location)}",
        share=share,
        evidence=[
            f"{ms(cost)} of the {ms(case.step_ns)} step are spent{at(location)}. As far as the "
            "source shows, nothing that it depends on changes from step to step, but for shapes.",
            *([f"Most of it in {library}."] if library else []),
        ],
        location=location,
        saving=read_once(cost, cost - error),
        fix=_FIX,
        trial="replay-result",
        library=library,
        source=case.code.text(location),
    )
