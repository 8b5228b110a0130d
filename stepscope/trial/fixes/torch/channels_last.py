"""Keeps pictures with their channels last in memory, as convolutions like them."""

from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.results import each_tensor
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class ChannelsLast:
    name = "channels-last"
    title = "pictures with channels last in memory"
    stage: Stage = "other"
    keeps: Keeps = "rounding"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.torch.operators_seen import has_operator

        if has_operator(subject.case, "conv2d", "convolution") is False:
            return Refusal("the script has no convolutions")
        words = "memory_format=torch.channels_last"
        return Proposal({}, words, _patch(subject, words))

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            layer = _Layout(torch, script)
            add_layer(torch, script.patches, Place.LAYOUT, layer.around)

        script.when_loaded("torch", loaded)


class _Layout:
    def __init__(self, torch: Any, script: Script) -> None:
        self._torch, self._script = torch, script
        self._models: dict[int, tuple[Any, bool]] = {}  # by id, and whether it convolves

    def around(self, call: Call) -> Call:
        def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if id(module) not in self._models:
                self._models[id(module)] = module, self._arrange(module)
            if self._models[id(module)][1]:
                args, kwargs = each_tensor(self._torch, (args, kwargs), self._arranged)
            return call(module, args, kwargs)

        return run

    def _arrange(self, module: Any) -> bool:
        kinds = (self._torch.nn.Conv2d, self._torch.nn.ConvTranspose2d)
        if not any(isinstance(each, kinds) for each in module.modules()):
            return False
        module.to(memory_format=self._torch.channels_last)
        self._script.applied(f"{type(module).__name__} with channels last")
        return True

    def _arranged(self, tensor: Any) -> Any:
        if tensor.dim() != 4:
            return tensor
        return tensor.contiguous(memory_format=self._torch.channels_last)


def _patch(subject: "Subject", words: str) -> str:
    from stepscope.advise.evidence.model_call import model_call

    call = model_call(subject.case)
    found = call and call.after_assignment(f"{{model}}.to({words})")
    return f"{found or f'model.to({words})'}\n# and the pictures, before the model: .to({words})\n"


FIX = ChannelsLast()
