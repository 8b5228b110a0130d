"""Computes the model in 32 bits where the script has it in 64.

What the script makes stays in 64 bits, random numbers too, so that it makes the same ones:
parameters and buffers become 32 bits at the model's first call, its inputs at every call. Results
leave a model with parameters in 64 bits as such: the loss is computed as before.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.results import cast
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class Float32:
    name = "float32"
    title = "compute in 32 bits instead of 64"
    stage: Stage = "precision"
    keeps: Keeps = "precision"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        if not any(each.id == "float64-compute" for each in subject.advice.findings):
            return Refusal("no heavy operator of the script computes in 64 bits")
        from stepscope.trial.fixes.torch.double_places import patch_of

        return Proposal({}, "model and data in torch.float32", patch_of(subject.case))

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            layer = _Cast(torch, script)
            add_layer(torch, script.patches, Place.CAST, layer.around)

        script.when_loaded("torch", loaded)


class _Cast:
    def __init__(self, torch: Any, script: Script) -> None:
        self._torch, self._script = torch, script
        self._models: dict[int, _Model] = {}  # by id

    def around(self, call: Call) -> Call:
        def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            torch = self._torch
            model = self._models.get(id(module)) or self._first_seen(module)
            if not model.was_double:
                return call(module, args, kwargs)
            args, kwargs = cast(torch, (args, kwargs), torch.float64, torch.float32)
            default = torch.get_default_dtype()
            torch.set_default_dtype(torch.float32)  # for what the model makes on its way
            try:
                result = call(module, args, kwargs)
            finally:
                torch.set_default_dtype(default)
            return (
                cast(torch, result, torch.float32, torch.float64) if model.gives_double else result
            )

        return run

    def _first_seen(self, module: Any) -> "_Model":
        parameters, buffers = (
            self._has_doubles(module.parameters()),
            self._has_doubles(module.buffers()),
        )
        model = _Model(module, was_double=parameters or buffers, gives_double=parameters)
        self._models[id(module)] = model
        if model.was_double:
            module.float()  # in place: optimizers keep the same parameters
            self._script.applied(f"{type(module).__name__} in 32 bits")
        return model

    def _has_doubles(self, tensors: Iterable[Any]) -> bool:
        return any(tensor.dtype == self._torch.float64 for tensor in tensors)


class _Model(NamedTuple):
    module: Any  # kept alive, so that no id is used twice
    was_double: bool  # a parameter, or a buffer that the computation goes through
    gives_double: bool


FIX = Float32()
