"""Let Keras run several steps in one call of its graph (steps_per_execution)."""

from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.keras import compile_arguments

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_NAME: Final = "steps_per_execution"
_STEPS: Final = 10
_EVENTS: Final = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")


class StepsPerExecution:
    name: Final = "keras-steps-per-execution"
    title: Final = "run several Keras steps in one call"
    stage: Stage = "graph"
    keeps: Keeps = "rounding"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.compile_calls import calls, compile_with

        sources = subject.case.code.sources
        if not any(True for _ in calls(sources, "fit")):
            return None
        for file in sources.files:
            text = sources.text(file)
            for each in text.functions() if text else ():
                if each.name in _EVENTS:
                    return Refusal(
                        f"{file}:{each.lineno} {each.name} wants to see every batch: with "
                        "steps_per_execution it would only see some."
                    )
        return Proposal(
            settings={"steps": _STEPS},
            words=f"compile({_NAME}={_STEPS})",
            patch=compile_with(sources, _NAME, str(_STEPS)),
        )

    def install(self, script: Script, settings: Settings) -> None:
        steps = settings["steps"]

        def change(arguments: dict[str, Any]) -> dict[str, Any]:
            if arguments.get(_NAME) not in (None, 1) or arguments.get("run_eagerly"):
                return {}
            script.applied(f"compile({_NAME}={steps})")
            return {_NAME: steps}

        compile_arguments.change(script, change)


FIX: Final = StepsPerExecution()
