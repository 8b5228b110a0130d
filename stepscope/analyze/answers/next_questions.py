"""What to ask next: the views that matter for this run, and the command that tries a finding."""

import shlex
from typing import Final

from stepscope.model import SummaryAnswer
from stepscope.model.findings import FindingsAnswer
from stepscope.model.next_questions import NextQuestion

_MOST: Final = 6  # what one reads before typing
_FILLED: Final = 5  # up to here, also what every run has
_MOST_OF_THIS_RUN: Final = 3  # views that only matter for runs like this one
_REAL_SHARE: Final = 0.05  # of the step: where XProf begins to call it input-bound
_DOCTOR: Final = NextQuestion(words="what is wrong", command="stepscope doctor")

# Views by what makes them matter, the most telling first.
_BY_FINDING: Final = {
    "input-bound": "input", "straggler-rank": "ranks", "exposed-communication": "ranks",
    "memory-growth": "memory", "repeated-load": "files", "device-idle": "device",
    "eager-overhead": "ops", "float64-compute": "ops", "small-batch": "device",
}  # fmt: skip
_BY_PHASE: Final = {"input": "input", "communication": "ranks", "files": "files"}
_IF_RECORDED: Final = ("ranks", "actions", "ops", "device")
_IF_TRACED: Final = ("functions", "memory")
# Short ones: words and command fit in 80 columns.
_WORDS: Final = {
    "findings": "what to do",
    "input": "the input",
    "ranks": "the ranks",
    "memory": "memory",
    "device": "the device",
    "ops": "operators",
    "actions": "actions",
    "functions": "functions",
    "lines": "every line",
    "steps --each": "every step",
    "files": "every file",
}


def next_questions(answer: SummaryAnswer, advice: FindingsAnswer | None) -> list[NextQuestion]:
    """What to do, and whether it helps; then what is special about this run; then every line."""
    if not answer.processes:
        return [_DOCTOR]
    first = [_show(answer, "findings")] if answer.steps.steps else []
    special = _of_this_run(answer, advice)[:_MOST_OF_THIS_RUN]
    asked = [*first, *_trial(answer, advice), *(_show(answer, view) for view in special)]
    for view in ("lines", "steps --each", "files"):
        has_it = view in answer.has or (view == "steps --each" and answer.steps.steps > 0)
        if has_it and view not in special and len(asked) < (_MOST if view == "lines" else _FILLED):
            asked.append(_show(answer, view))
    return [*asked, *_comparison(answer, advice)][:_MOST]


def _trial(answer: SummaryAnswer, advice: FindingsAnswer | None) -> list[NextQuestion]:
    """A fix that was measured need not be tried again."""
    findings = advice.findings if advice else []
    if not answer.can_repeat or all(each.measured or not each.trial for each in findings):
        return []
    return [NextQuestion(words="try it", command=_typed("try", *answer.command))]


def _comparison(answer: SummaryAnswer, advice: FindingsAnswer | None) -> list[NextQuestion]:
    """After a change that has to be made by hand."""
    if advice is None or not advice.findings or _trial(answer, advice):
        return []
    return [NextQuestion(words="compare", command=f"{_typed('compare', answer.run)} AFTER")]


def _of_this_run(answer: SummaryAnswer, advice: FindingsAnswer | None) -> list[str]:
    found = [each.id for each in advice.findings] if advice else []
    parts = answer.steps.breakdown or []
    phases = [part.category for part in parts if part.share >= _REAL_SHARE]
    matter = [
        *(_BY_FINDING[each] for each in found if each in _BY_FINDING),
        *(_BY_PHASE[each] for each in phases if each in _BY_PHASE),
        *_IF_RECORDED,
        *(_IF_TRACED if answer.is_trace else ()),
    ]
    has_device = any(part.device_ms for part in parts)
    has = [*answer.has, *(["device"] if has_device else [])]
    return [view for view in dict.fromkeys(matter) if view in has]


def _show(answer: SummaryAnswer, view: str) -> NextQuestion:
    return NextQuestion(words=_WORDS[view], command=f"{_typed('show', answer.run)} {view}")


def _typed(*words: str) -> str:
    return shlex.join(["stepscope", *words])
