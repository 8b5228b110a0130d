"""What a fix may look at before it is proposed: the baseline's run, and what was found in it."""

import dataclasses

from stepscope.advise.evidence.case import Case
from stepscope.model.findings import Finding, FindingsAnswer


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """`case` answers what rules ask too: steps, phases, operators, samples, source text."""

    case: Case
    advice: FindingsAnswer
    frameworks: frozenset[str]  # modules that the script imports: "torch", "keras", "jax" …
    cores: float  # that the script may use
    finding: Finding | None = None  # the one that names this fix; None: asked for
    is_named: bool = False  # asked for by name, and not with all that fit
