"""Fixes that are a setting of torch for a GPU, made when the first model on one is called."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer, first_parameter

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case
    from stepscope.trial.fixes.subject import Subject


def _nothing(_case: "Case") -> str | None:
    return None


@dataclasses.dataclass
class DeviceSetting:
    name: str
    title: str
    stage: Stage
    keeps: Keeps
    of: str  # what needs the GPU
    line: str  # to write by hand
    where: str  # to write it
    set_up: Callable[[Any], str | None]  # gets torch, and returns why it did nothing
    why_not: Callable[["Case"], str | None] = _nothing  # besides a missing GPU
    is_ceiling: bool = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.hardware import devices_of

        if not devices_of(subject.case):
            return Refusal(f"{self.of} needs a GPU, and this run had none")
        if reason := self.why_not(subject.case):
            return Refusal(reason)
        return Proposal({}, self.line, f"{self.line}  # {self.where}\n")

    def install(self, script: Script, settings: Settings) -> None:
        _on_gpu(script, self.set_up)


def _on_gpu(script: Script, set_up: Callable[[Any], str | None]) -> None:
    """Not at the import of torch: asking for devices there would start CUDA before the script forks
    its workers."""

    def loaded(torch: Any) -> None:
        is_done = False

        def around(call: Call) -> Call:
            def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                nonlocal is_done
                if not is_done:
                    is_done = True
                    _decide(torch, script, module, set_up)
                return call(module, args, kwargs)

            return run

        add_layer(torch, script.patches, Place.SETTING, around)

    script.when_loaded("torch", loaded)


def _decide(torch: Any, script: Script, module: Any, set_up: Callable[[Any], str | None]) -> None:
    device = first_parameter(module).device.type
    if device != "cuda":
        script.refuse(f"{type(module).__name__} is on the device {device!r}, not on a GPU")
        return
    reason = set_up(torch)
    if reason:
        script.refuse(reason)
    else:
        script.applied("set on the GPU")
