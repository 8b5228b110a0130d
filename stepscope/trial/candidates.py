"""What to try: the fixes that findings name, in their order, then those that were asked for."""

import dataclasses
from collections.abc import Iterator

from stepscope.errors import InputError
from stepscope.model.findings import Finding
from stepscope.model.trial import Rung
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import STAGES, Fix, Proposal, Refusal
from stepscope.trial.fixes.subject import Subject
from stepscope.trial.ladder import Candidate
from stepscope.trial.state import Wanted


def proposed(subject: Subject, wanted: Wanted) -> Iterator[Candidate | Rung]:
    """Those to try, and a rung for each of which is known already that it cannot be tried."""
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
    found = fixes.every() if wanted.ladder else []
    return sorted(found, key=lambda fix: STAGES.index(fix.stage))


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
    try:
        return fix.propose(subject)
    except Exception as error:
        return Refusal(f"it cannot be proposed for this run: {type(error).__name__}: {error}")


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
