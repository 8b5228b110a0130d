"""A script recorded as it is, as a fix sees it before it is proposed."""

import dataclasses
from pathlib import Path

from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import findings
from stepscope.analyze.run import select
from stepscope.model import Location
from stepscope.model.findings import Finding, Speedup
from stepscope.store.reader import open_run
from stepscope.trial.fixes.subject import Subject
from trial.scripts import Tried, run_with


def subject_of(script: Path, *frameworks: str) -> tuple[Subject, Tried]:
    tried = run_with(script, fixes={}, into=script.parent / "baseline")
    run = open_run(tried.run)
    process = select(run)
    assert process is not None
    subject = Subject(Case(run, process), findings(run, every=True), frozenset(frameworks), cores=2)
    return subject, tried


def with_finding(
    subject: Subject, id: str, line: str, *, share: float = 0.5, fix: str = "", patch: str = ""
) -> Subject:
    """As if this had been found at the line of the script with that text: whether a loaded machine
    leaves enough to find it is not what these tests ask."""
    for function in subject.case.code.functions:
        for row in function.lines:
            if (row.source or "").strip() == line:
                place = Location(file=function.file, line=row.line, function=function.function)
                finding = Finding(
                    id=id, severity="high", title="", share=share, evidence=[], confidence="",
                    location=place, process=function.process, speedup=Speedup(2.0, 1.5, 2.5),
                    fix=fix, patch=patch or None, trial=None,
                )  # fmt: skip
                return dataclasses.replace(subject, finding=finding)
    raise LookupError(line)
