"""Which framework trains."""

from stepscope.advise.evidence.case import Case


def framework_of(case: Case) -> str:
    """By whose files the stacks lead through."""
    seen = {"torch": 0.0, "tensorflow": 0.0, "jax": 0.0}
    for look in case.stacks.time.looks:
        for name in seen:
            theirs = (frame.function.file for frame in look.frames if not frame.is_users)
            if any(f"/{name}/" in file for file in theirs):
                seen[name] += look.ns
    return max(seen, key=lambda name: seen[name])
