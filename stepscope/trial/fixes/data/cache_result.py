"""Keep what a function reads from a file, as long as the file stays the same."""

import atexit
import functools
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside import readers
from stepscope.trial.fixes.inside.argument_keys import argument_key
from stepscope.trial.fixes.inside.free_memory import half_of_free_bytes
from stepscope.trial.fixes.inside.kept_files import KeptFiles
from stepscope.trial.fixes.inside.opened_files import OpenedFiles
from stepscope.trial.fixes.inside.user_functions import Place, when_defined

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class CacheResult:
    """The function's result where its arguments and its files decide it, and what `numpy.load`,
    `json.load` and the like return to it: it may get other indices each time. Both are handed out
    as they are, and copied from when the script is seen to write into one.
    """

    name: Final = "cache-result"
    title: Final = "read the file once"
    stage: Stage = "data"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.named_function import finding_of, named_function
        from stepscope.trial.fixes.proposing.side_effects import reads_with, side_effect

        finding = finding_of(subject, "repeated-load")
        if finding is None:
            return None
        function = named_function(subject.case, finding.location)
        if isinstance(function, Refusal):
            return function
        reason = side_effect(function, subject.case.code.sources)
        readers_used = reads_with(function, subject.case.code.sources)
        if reason is not None and not readers_used:
            return Refusal(f"{function.at} cannot keep its result: {reason}.")
        return Proposal(
            settings={"function": function.place, "whole": reason is None},
            words=f"{function.node.name} reads its file once",
            patch=finding.patch or f"# {finding.fix}\n",
        )

    def install(self, script: Script, settings: Settings) -> None:
        place = Place.of(settings["function"])
        asking = readers.Asking()
        kept = KeptFiles(
            half_of_free_bytes(), lambda: script.applied(f"{place.function} read its file once")
        )

        def wrap(function: FunctionType) -> Callable[..., Any]:
            return _keeping(function, kept, asking, is_whole=settings["whole"])

        for module in readers.READERS:
            script.when_loaded(
                module,
                functools.partial(readers.keep, patches=script.patches, kept=kept, asking=asking),
            )
        when_defined(place, wrap, script.patches)
        atexit.register(_check, script, place, kept)


FIX: Final = CacheResult()


def _keeping(
    function: FunctionType, kept: KeptFiles, asking: readers.Asking, *, is_whole: bool
) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        key = argument_key((args, kwargs)) if is_whole else None
        if key is None:
            with asking:
                return function(*args, **kwargs)
        opened = OpenedFiles()

        def read() -> Any:
            with opened, asking:
                return function(*args, **kwargs)

        def files() -> list[str]:
            """None if the function writes into its arguments: the next call must do that too."""
            return opened.read_only() if argument_key((args, kwargs)) == key else []

        return kept.get((function, key), files, read)

    return run


def _check(script: Script, place: Place, kept: KeptFiles) -> None:
    """A script that writes into what it gets now and then was trained with other data."""
    if kept.were_changed():
        script.refuse(
            f"The script writes into what {place.function} ({place.file}:{place.first_line}) "
            "reads, so it cannot be kept."
        )
