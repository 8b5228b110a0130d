"""The command that measures a fix on the script of a run."""

import shlex

from stepscope.analyze.answers.recorded_views import can_repeat
from stepscope.store.reader import Run


def trial_command(run: Run, fix: str) -> str:
    """`stepscope try --fixes tf-xla train.py`, to be typed as it is where the run can be repeated;
    otherwise the script is left out."""
    script = run.info.command if can_repeat(run) else []
    return f"`{shlex.join(['stepscope', 'try', '--fixes', fix, *script])}`"
