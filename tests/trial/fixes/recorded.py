"""A script recorded as it is, as a fix sees it before it is proposed."""

from pathlib import Path

from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import findings
from stepscope.analyze.run import select
from stepscope.store.reader import open_run
from stepscope.trial.fixes.subject import Subject
from trial.scripts import Tried, run_with


def subject_of(script: Path, *frameworks: str, finding: str | None = None) -> tuple[Subject, Tried]:
    """`finding`: the id of the one that names the fix."""
    tried = run_with(script, fixes={}, into=script.parent / "baseline")
    run = open_run(tried.run)
    advice = findings(run, every=True)
    meant = next((each for each in advice.findings if each.id == finding), None)
    case = Case(run, select(run))
    return Subject(case, advice, frozenset(frameworks), cores=2, finding=meant), tried
