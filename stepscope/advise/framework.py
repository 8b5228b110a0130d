"""Which framework trains."""

from stepscope.advise.case import Case


def framework_of(case: Case) -> str:
    """By whose files the stacks lead through."""
    seen = {"torch": 0.0, "tensorflow": 0.0, "jax": 0.0}
    for look in case.time.looks:
        for name in seen:
            if any(f"/{name}/" in frame.function.file for frame in look.frames):
                seen[name] += look.ns
    return max(seen, key=lambda name: seen[name])
