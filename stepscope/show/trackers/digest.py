"""A run in a tracker's words: metrics under names, the verdict and the findings as text."""

from typing import Final

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.phases.stretches import stretches
from stepscope.analyze.run import Run
from stepscope.model import StepsAnswer
from stepscope.model.findings import Finding, FindingsAnswer
from stepscope.model.tracking import Digest, Stretch

_PREFIX: Final = "stepscope/"
_OF_THE_RUN: Final = "stepscope/run/"  # beside the course, they would be one more point of it
_OWN: Final = "profiler"  # the category of our own cost


def digest(run: Run, findings: FindingsAnswer, report: str | None) -> Digest:
    return Digest(
        summary=_named(_OF_THE_RUN, _summary(steps(run))),
        course=[(part.last_step, _named(_PREFIX, _metrics(part))) for part in stretches(run)],
        verdict=findings.verdict,
        findings=_text(findings),
        report=report,
    )


def _summary(answer: StepsAnswer) -> dict[str, float | None]:
    if answer.step_ms is None or answer.rate is None:
        return {"steps": answer.steps}
    return {
        "steps": answer.steps,
        "step_ms": answer.step_ms.mean,
        "step_ms_p90": answer.step_ms.p90,
        "steps_per_s": answer.rate.per_s,
        "samples_per_s": answer.rate.samples_per_s,
        "own_cost": answer.overhead.share if answer.overhead else None,
        **{f"share/{part.category}": part.share for part in answer.breakdown or ()},
    }


def _metrics(part: Stretch) -> dict[str, float | None]:
    return {
        "step_ms": part.mean_ms,
        "step_ms_p90": part.p90_ms,
        "steps_per_s": part.per_s,
        "samples_per_s": part.samples_per_s,
        "own_cost": part.shares.get(_OWN),
        **{f"share/{category}": share for category, share in part.shares.items()},
    }


def _named(prefix: str, metrics: dict[str, float | None]) -> dict[str, float]:
    return {prefix + name: float(value) for name, value in metrics.items() if value is not None}


def _text(findings: FindingsAnswer) -> str:
    parts = [f"**{findings.verdict}**", *(_finding(each) for each in findings.findings)]
    return "\n\n".join(parts) + "\n"


def _finding(finding: Finding) -> str:
    gain = f"{finding.gain} · " if finding.gain else ""
    evidence = [f"- {sentence}" for sentence in finding.evidence]
    return "\n".join([f"### {gain}{finding.title}", "", finding.fix, "", *evidence])
