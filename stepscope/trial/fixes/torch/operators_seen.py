"""Which operators a run has in its steps, for fixes that make sense with some only."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case


def has_operator(case: "Case", *names: str) -> bool | None:
    """Whether the name of one contains one of these. None: no operators were recorded."""
    from stepscope.advise.evidence.case import CannotJudge

    try:
        window = case.operators
    except CannotJudge:
        return None
    return bool((window.is_op & window.named(*names)).any())
