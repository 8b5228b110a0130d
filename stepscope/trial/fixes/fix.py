"""What a fix is: when it applies, what it changes inside the script, the patch to make by hand."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from stepscope.record.frameworks.watching.patches import Patches
    from stepscope.trial.fixes.subject import Subject

# The order of `--ladder`; `other` comes where its finding stands.
Stage = Literal["data", "graph", "compile", "precision", "other"]
STAGES: Final[tuple[Stage, ...]] = ("data", "graph", "compile", "precision", "other")

# What the losses may do: stay the same to the last bit, differ by the order of additions, or by
# fewer bits in every number; `training`: the training itself is another one (never "the same").
Keeps = Literal["bits", "rounding", "precision", "training"]

Settings = Mapping[str, Any]  # plain JSON: it travels to the script's process in a file
# A setting of fixes that make batches of another size: their gain is in samples a second.
CHANGES_BATCH: Final = "changes_batch"


class Proposal(NamedTuple):
    """A fix that fits, as it is to be tried."""

    settings: Settings
    words: str  # "num_workers=2, persistent_workers=True"
    patch: (
        str | None
    )  # a unified diff, or lines to write by hand; None: nothing to write (a ceiling)
    keeps: Keeps | None = None  # where it is not the fix's own, for this script
    why_not_kept: str | None = None  # it is measured for the user to decide about


class Refusal(NamedTuple):
    """Why a fix that was asked for is not tried here: one sentence that names the line."""

    reason: str


class Script(Protocol):
    """The user's process, as a fix sees it from inside."""

    patches: "Patches"  # changes of ours that can be undone

    def when_loaded(self, module: str, action: Callable[[ModuleType], object]) -> None:
        """Call `action` when the script has loaded the module, ahead of our own watchers. Only in
        `install`: afterwards the list of modules is closed."""

    def applied(self, what: str) -> None:
        """Say that the fix took effect, in a few words; only the first time is kept."""

    def refuse(self, reason: str) -> None:
        """Say that it did not, and why: the trial of this fix ends as skipped."""


class Fix(Protocol):
    """One file in this folder ends with `FIX = ...`, an object like this."""

    name: str  # as `--fixes` and a finding's `trial` spell it
    title: str  # "load in worker processes"
    stage: Stage
    keeps: Keeps
    is_ceiling: bool  # it only shows what the best possible fix would give; never kept

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        """Outside, with the baseline's run at hand. None: it has nothing to do with this script.
        Where it stands in a framework's room, the script imports that framework."""

    def install(self, script: Script, settings: Settings) -> None:
        """Inside, before the script's first line. An exception here costs the trial, not us."""
