"""Settings of torch for a GPU, made when the first model on one is called."""

from collections.abc import Callable
from typing import Any

from stepscope.trial.fixes.fix import Script
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer, first_parameter


def on_gpu(script: Script, set_up: Callable[[Any], str | None]) -> None:
    """`set_up` gets torch and returns why it did nothing. Not at the import of torch: asking for
    devices there would start CUDA before the script forks its workers."""

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
