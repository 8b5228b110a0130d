"""Which framework trains, and its words."""

from stepscope.advise.evidence.case import Case
from stepscope.frameworks.facts import Words
from stepscope.frameworks.table import COMPUTING, words_of


def framework_of(case: Case) -> str:
    """torch if nothing shows which."""
    return _seen(case) or "torch"


def words_for(case: Case) -> Words:
    return words_of(_seen(case))


def goes_through(case: Case, package: str) -> bool:
    """Whether the steps call into it, by the files that the stacks lead through."""
    return any(
        f"/{package}/" in frame.function.file and not frame.is_users
        for look in case.stacks.time.looks
        for frame in look.frames
    )


def _seen(case: Case) -> str | None:
    """By the files that the stacks lead through."""
    seen = dict.fromkeys(COMPUTING, 0.0)
    for look in case.stacks.time.looks:
        theirs = [frame.function.file for frame in look.frames if not frame.is_users]
        for name in seen:
            if any(f"/{name}/" in file for file in theirs):
                seen[name] += look.ns
    most = max(seen, key=lambda name: seen[name])
    return most if seen[most] else None
