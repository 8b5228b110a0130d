"""The questions of `stepscope.Run`: a method for each view, typed for editors.

Made from the views by tests/views/make_questions.py: change those and run it again.
"""

from typing import TYPE_CHECKING

from stepscope.views.actions import ACTIONS
from stepscope.views.device import DEVICE
from stepscope.views.files import FILES
from stepscope.views.findings import FINDINGS
from stepscope.views.functions import FUNCTIONS
from stepscope.views.input import INPUT
from stepscope.views.kernels import KERNELS
from stepscope.views.lines import LINES
from stepscope.views.memory import MEMORY
from stepscope.views.ops import OPS
from stepscope.views.processes import PROCESSES
from stepscope.views.ranks import RANKS
from stepscope.views.regions import REGIONS
from stepscope.views.steps import STEPS
from stepscope.views.summary import SUMMARY

if TYPE_CHECKING:
    from stepscope import model
    from stepscope.model.findings import FindingsAnswer
    from stepscope.model.ops import DeviceAnswer, KernelsAnswer, OpsAnswer
    from stepscope.model.processes import ProcessesAnswer
    from stepscope.model.ranks import RanksAnswer
    from stepscope.store.reader import Run


class RunQuestions:
    """Each gives the record that `stepscope show RUN <question> --json` prints."""

    def __init__(self, run: "Run") -> None:
        self._run = run

    def summary(self) -> "model.SummaryAnswer":
        """The whole run, its steps, its hottest lines."""
        return SUMMARY.plain(self._run)

    def findings(self) -> "FindingsAnswer":
        """What is slow, why, what to change, and what that will gain."""
        return FINDINGS.plain(self._run)

    def steps(self) -> "model.StepsAnswer":
        """How long a step takes and what it consists of; `.each` has every single step."""
        return STEPS.plain(self._run)

    def lines(self) -> "model.LinesAnswer":
        """Hits and time of every line, by function."""
        return LINES.plain(self._run)

    def functions(self) -> "model.FunctionsAnswer":
        """Calls and time of every function."""
        return FUNCTIONS.plain(self._run)

    def regions(self) -> "model.RegionsAnswer":
        """What was named with `stepscope.region`."""
        return REGIONS.plain(self._run)

    def actions(self) -> "model.ActionsAnswer":
        """Hooks and callbacks of a framework's trainer."""
        return ACTIONS.plain(self._run)

    def ops(self) -> "OpsAnswer":
        """Operators in the recorded windows, and the lines that called them."""
        return OPS.plain(self._run)

    def kernels(self) -> "KernelsAnswer":
        """What ran on a device in the recorded windows."""
        return KERNELS.plain(self._run)

    def device(self) -> "DeviceAnswer":
        """How much of its time each device worked, and why not all of it."""
        return DEVICE.plain(self._run)

    def input(self) -> "model.InputAnswer":
        """Whether the steps wait for their batches, and for what."""
        return INPUT.plain(self._run)

    def files(self) -> "model.FilesAnswer":
        """Which files were opened, by which line, at what cost."""
        return FILES.plain(self._run)

    def memory(self) -> "model.MemoryAnswer":
        """Resident memory of each process over time."""
        return MEMORY.plain(self._run)

    def ranks(self) -> "RanksAnswer":
        """The ranks side by side, and which one the others wait for."""
        return RANKS.plain(self._run)

    def processes(self) -> "ProcessesAnswer":
        """Which processes ran, and what each used."""
        return PROCESSES.plain(self._run)
