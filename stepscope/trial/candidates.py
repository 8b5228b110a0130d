"""What to try: the fixes that findings name, in their order, then those that were asked for.

On a ladder all of them come by stages. A ceiling is left out where a fix of the same function is
tried: that shows what there is to gain, and can be kept.
"""

import dataclasses
from collections.abc import Iterable, Iterator

from stepscope.advise.evidence.framework import goes_through
from stepscope.errors import InputError
from stepscope.model.findings import Finding
from stepscope.model.trial import Rung
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import STAGES, Fix, Proposal, Refusal
from stepscope.trial.fixes.subject import Subject
from stepscope.trial.ladder import Candidate
from stepscope.trial.state import SavedFix, Wanted


def proposed(subject: Subject, wanted: Wanted) -> list[Candidate | Rung]:
    """Those to try, and a rung for each of which is known already that it cannot be tried."""
    found = _without_replaced_ceilings(_each_once(_proposed(subject, wanted)))
    in_turn = sorted(found, key=_turn) if wanted.ladder else found
    return in_turn if wanted.fixes is not None else sorted(in_turn, key=_is_ceiling)


def _proposed(subject: Subject, wanted: Wanted) -> Iterator[Candidate | Rung]:
    named = set()
    for finding in subject.advice.findings:
        about = dataclasses.replace(subject, finding=finding)
        if wanted.fixes is None or finding.trial in wanted.fixes:
            named.add(finding.trial)
            yield _for_finding(about, finding)
        for name in fixes.ALSO.get(finding.id, ()):
            if name not in named and (wanted.fixes is None or name in wanted.fixes):
                named.add(name)
                yield from _besides(fixes.named(name), about, finding)
    for fix in _asked_for(wanted):
        if fix.name not in named:
            yield from _asked(fix, subject, must=wanted.fixes is not None)


def _is_ceiling(each: Candidate | Rung) -> bool:
    """Those come last: where the time is short, what can be kept is worth more."""
    return isinstance(each, Candidate) and each.fix.is_ceiling


def _turn(each: Candidate | Rung) -> int:
    """By stages. What a finding names besides (a stall, too many threads) comes first: in a step
    that mostly waits for it, nothing else shows what it gains."""
    if isinstance(each, Rung):
        return len(STAGES)
    is_besides = each.fix.stage == "other" and each.finding is not None
    return -1 if is_besides else STAGES.index(each.fix.stage)


def _each_once(found: Iterable[Candidate | Rung]) -> Iterator[Candidate | Rung]:
    """Two findings may ask for the very same: the first one, with the larger gain, gets it."""
    seen: list[SavedFix] = []
    for each in found:
        if not isinstance(each, Candidate):
            yield each
        elif each.as_applied not in seen:
            seen.append(each.as_applied)
            yield each


def _without_replaced_ceilings(found: Iterable[Candidate | Rung]) -> list[Candidate | Rung]:
    """The fix takes the ceiling's turn, and what was predicted for it."""
    left = list(found)
    candidates = [each for each in left if isinstance(each, Candidate)]
    for ceiling in (each for each in candidates if each.fix.is_ceiling):
        fix = next((each for each in candidates if _is_fix_for(each, ceiling)), None)
        if fix is not None:
            left.remove(fix)
            left[left.index(ceiling)] = _with_larger(fix, ceiling)
    return left


def _is_fix_for(each: Candidate, ceiling: Candidate) -> bool:
    functions = (each.proposal.settings.get("function"), ceiling.proposal.settings.get("function"))
    return not each.fix.is_ceiling and functions[0] is not None and functions[0] == functions[1]


def _with_larger(fix: Candidate, ceiling: Candidate) -> Candidate:
    gains = [each.finding.speedup.expected if each.finding else 1.0 for each in (fix, ceiling)]
    return fix._replace(finding=ceiling.finding) if gains[1] > gains[0] else fix


def require_known(names: list[str] | None) -> None:
    for name in names or ():
        try:
            fixes.named(name)
        except (LookupError, ImportError) as cause:
            known = ", ".join(fixes.FILES.values())
            raise InputError(f"There is no fix '{name}'. There are: {known}.") from cause


def _asked_for(wanted: Wanted) -> list[Fix]:
    if wanted.fixes is not None:
        return [fixes.named(name) for name in wanted.fixes]
    return fixes.every() if wanted.ladder else []


def _for_finding(subject: Subject, finding: Finding) -> Candidate | Rung:
    try:
        fix = fixes.named(finding.trial or "")
    except LookupError:
        return _skipped(finding, None, "no change from outside can do this: it needs yours")
    proposal = _proposal(fix, subject)
    if proposal is None or isinstance(proposal, Refusal):
        return _skipped(finding, fix, proposal.reason if proposal else "it does not fit here")
    return Candidate(fix, finding, proposal)


def _besides(fix: Fix, subject: Subject, finding: Finding) -> Iterator[Candidate]:
    """Only where it fits: nobody has asked for it."""
    proposal = _proposal(fix, subject)
    if isinstance(proposal, Proposal):
        yield Candidate(fix, finding, proposal)


def _asked(fix: Fix, subject: Subject, *, must: bool) -> Iterator[Candidate | Rung]:
    proposal = _proposal(fix, dataclasses.replace(subject, is_named=must))
    if isinstance(proposal, Refusal):
        yield _skipped(None, fix, proposal.reason)
    elif proposal is not None:
        yield Candidate(fix, None, proposal)
    elif must:
        yield _skipped(None, fix, "it has nothing to do with this script")


def _proposal(fix: Fix, subject: Subject) -> Proposal | Refusal | None:
    """A fix that cannot make up its mind does not affect the others."""
    if not fixes.can_apply(fix.name, subject.frameworks):
        return None
    try:
        return _trains_with_another(fix, subject) or fix.propose(subject)
    except Exception as error:
        return Refusal(f"it cannot be proposed for this run: {type(error).__name__}: {error}")


def _trains_with_another(fix: Fix, subject: Subject) -> Refusal | None:
    """Where several frameworks are loaded, only one may compute. Any of them may load the data."""
    framework = fixes.framework_of(fix.name)
    if framework is None or fix.stage == "data" or framework not in subject.frameworks:
        return None
    others = subject.frameworks - {framework}
    if not others or goes_through(subject.case, framework):
        return None
    trains = [other for other in sorted(others) if goes_through(subject.case, other)]
    return Refusal(f"the steps compute with {trains[0]}, not with {framework}") if trains else None


def _skipped(finding: Finding | None, fix: Fix | None, reason: str) -> Rung:
    return Rung(
        fix=fix.name if fix else None,
        title=finding.title if finding else fix.title if fix else "",
        finding=finding.id if finding else None,
        predicted=finding.speedup if finding else None,
        status="skipped",
        reason=reason,
        patch=finding.patch if finding else None,
        ceiling=1 / (1 - finding.share) if finding and 0 < finding.share < 1 else None,
    )
