"""Load batches in worker processes, ahead of the step."""

import functools
import pickle
import re
import sys
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.signal_handlers import let_pass
from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.data_loaders import MODULE, Arguments, change_arguments

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_NUMBER: Final = re.compile(r"num_workers=(\d+)")
_WORDS: Final = "num_workers={}, persistent_workers=True"


class NumWorkers:
    name: Final = "num-workers"
    title: Final = "load in worker processes"
    stage: Stage = "data"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.advise.evidence import random_calls
        from stepscope.trial.fixes.proposing import loader_calls
        from stepscope.trial.fixes.proposing.worth_a_run import too_little

        if "torch" not in subject.frameworks:
            return None
        if subject.finding is None and not loader_calls.gives_batches(subject.case):
            return Refusal("no DataLoader gives the steps their batches")
        if reason := too_little(subject, "input", "waiting for batches"):
            return reason
        workers = self._workers(subject)
        drawn = random_calls.in_datasets(subject.case.code.sources)
        return Proposal(
            settings={"workers": workers},
            words=_WORDS.format(workers),
            patch=loader_calls.loader_with(
                subject.case.code.sources,
                {"num_workers": str(workers), "persistent_workers": "True"},
            ),
            # Workers have random numbers of their own: other pictures of the same kind.
            keeps="training" if drawn else None,
        )

    def _workers(self, subject: "Subject") -> int:
        """The number that the finding was judged by; without one, the cores that are idle."""
        advised = _NUMBER.search(subject.finding.fix) if subject.finding is not None else None
        return int(advised[1]) if advised else max(1, round(subject.case.machine.idle_cores or 1))

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded(MODULE, functools.partial(_change, script, settings["workers"]))


FIX: Final = NumWorkers()


def _change(script: Script, workers: int, module: ModuleType) -> None:
    def change(arguments: Arguments) -> Arguments:
        if arguments["num_workers"] >= workers:
            return {}
        reason = _why_not(arguments, module)
        if reason is not None:
            script.refuse(reason)
            return {}
        script.applied(_WORDS.format(workers))
        return {"num_workers": workers, "persistent_workers": True}

    change_arguments(module, script.patches, change)
    _draw_as_without(script, module)


def _why_not(arguments: Arguments, module: ModuleType) -> str | None:
    dataset = arguments["dataset"]
    name = type(dataset).__name__
    if isinstance(dataset, module.IterableDataset) and not _shares(dataset, arguments):
        return (
            f"{name} does not share its samples among workers (get_worker_info): each worker "
            "would load all of them."
        )
    if _start_method(arguments) != "fork":
        try:
            pickle.dumps((dataset, arguments["collate_fn"], arguments["worker_init_fn"]))
        except Exception as error:
            let_pass(error)
            return f"{name} cannot be sent to a worker process: {error}"
    return None


def _shares(dataset: Any, arguments: Arguments) -> bool:
    iterate = getattr(type(dataset).__iter__, "__code__", None)
    return arguments["worker_init_fn"] is not None or (
        iterate is not None and "get_worker_info" in _names_in(iterate)
    )


def _names_in(code: CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names_in, inner))


def _start_method(arguments: Arguments) -> str:
    """Without asking for the default, which would fix it for the script."""
    context = arguments["multiprocessing_context"]
    if isinstance(context, str):
        return context
    processes = sys.modules["multiprocessing"] if context is None else context
    default = "fork" if sys.platform == "linux" else "spawn"
    return str(processes.get_start_method(allow_none=True) or default)


def _draw_as_without(script: Script, module: ModuleType) -> None:
    """A loader draws a seed for its workers whenever it starts; persistent workers only get one at
    the first start. Drawn all the same, what the script draws later is what it is without us."""
    iterator = module._MultiProcessingDataLoaderIter
    reset = iterator._reset

    @functools.wraps(reset)
    def _reset(self: Any, loader: Any, first_iter: bool = False) -> Any:
        if not first_iter:
            torch = sys.modules["torch"]
            torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        return reset(self, loader, first_iter)

    script.patches.set(iterator, "_reset", _reset)
