"""The optimizer walks its parameters one by one, from a trace of the CPU."""

from stepscope.advise.evidence.case import CannotJudge
from stepscope.advise.evidence.host_case import RECORDED, HostCase
from stepscope.advise.evidence.words import counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.fused_step import fused
from stepscope.advise.rules.optimizer_unfused import (
    ID,
    LEAST_SHARE,
    fix_of,
    is_one_by_one,
    parameters,
)
from stepscope.analyze.operators.step_operators import OPTIMIZER


def judge(case: HostCase) -> list[Candidate]:
    host, window = case.by_step, case.by_step.operators
    if not (window.named(OPTIMIZER) & host.inside).any():
        raise CannotJudge("no optimizer of torch in this trace")
    found = []
    for name, within in window.optimizers.items():
        cost = host.by_step_ns(window.named(f"{OPTIMIZER}{name}.") & host.inside)
        operators = within & window.is_op & host.inside
        if cost >= LEAST_SHARE * case.step_ns and is_one_by_one(window, operators):
            count, share = window.count(operators), cost / case.step_ns
            tensors, elements = parameters(window, operators)
            found.append(
                Candidate(
                    id=ID,
                    title=f"The optimizer calls {counted(count, 'small operator')} a step",
                    verdict=f"is {name}, one parameter at a time",
                    share=share,
                    evidence=[
                        f"{name}.step takes {ms(cost)} of the {ms(case.step_ns)} step "
                        f"({percent(share)}), in {counted(count, 'operator')} for about "
                        f"{counted(tensors, 'parameter')}, none of them fused.",
                    ],
                    saving=fused(cost, tensors, elements, with_core=1.0),
                    fix=fix_of(name),
                    trial="fused-optimizer",
                    doubt=RECORDED,
                )
            )
    return found
