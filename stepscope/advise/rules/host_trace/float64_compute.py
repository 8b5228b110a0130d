"""Heavy operators run in double precision, from a trace of the CPU."""

from stepscope.advise.evidence.case import CannotJudge
from stepscope.advise.evidence.host_case import HostCase
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.precision import in_32_bits, measured_ratio
from stepscope.advise.rules.float64_compute import DOUBT, ID, LEAST_SHARE, is_double


def judge(case: HostCase) -> list[Candidate]:
    host, window = case.host, case.host.operators
    if not any(window.types()):
        how = ": record it with record_shapes=True" if case.is_torchs else ""
        raise CannotJudge(f"the types of the numbers are not in this trace{how}")
    operators = window.is_op & host.inside
    doubles = operators & is_double(window)
    whole, cost = window.by_step_ns(operators), window.by_step_ns(doubles)
    if not whole or cost < LEAST_SHARE * whole:
        return []
    ratio = measured_ratio()
    convolutions = window.by_step_ns(doubles & window.named("conv", "Conv")) / cost
    return [
        Candidate(
            id=ID,
            title=f"{percent(cost / whole)} of the operators' time is double precision",
            verdict="goes to computing in 64 bits",
            share=min(1.0, cost / case.step_ns),
            evidence=[
                f"{percent(cost / whole)} of the operators' time, {ms(cost)} of a step, has inputs "
                "of 64 bits.",
            ],
            saving=in_32_bits(cost, convolutions=convolutions, ratio=ratio),
            fix=case.words.float32.fix,
            trial=case.words.float32.trial,
            doubt=DOUBT,
        )
    ]
