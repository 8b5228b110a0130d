"""Freezes what the set-up has made, and collects garbage less often.

Memory is all that changes: objects that only the collector can free stay for some steps longer.
"""

import gc
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage

if TYPE_CHECKING:
    from stepscope.advise.evidence.source import Loop, Text
    from stepscope.trial.fixes.subject import Subject

# Steps whose garbage is kept, at most: collecting that of ten at a time takes a fifth of the time
# of collecting it while a step goes on (benchmarks/zoo/scripts/python_autograd_objects.py).
_STEPS: Final = 10
_LEAST_OBJECTS: Final = 50_000  # some 5 MB of small objects: nobody misses them
_MOST_OBJECTS: Final = 2_000_000
_OLDER: Final = 10  # as Python has it for the older generations
_OWN_WAY: Final = re.compile(r"\bgc\.(set_threshold|freeze|disable)\(")


class GcFreeze:
    name = "gc-freeze"
    title = "freeze the set-up, collect less often"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.worth_a_run import too_little

        if not subject.case.phase_ns("gc"):
            return Refusal("no collection in the steps took as long as 50 µs")
        if reason := too_little(subject, "gc", "collecting garbage"):
            return reason
        if (already := _own_way(subject)) is not None:
            return Refusal(f"the script has its own way with the collector ({already})")
        young = _young_objects(subject)
        if young is None:
            return Refusal("the garbage of two steps takes more than half of the free memory")
        settings = {"after_s": _after_s(subject), "young_objects": young}
        words = f"gc.freeze() after the set-up, gc.set_threshold({young:_})"
        return Proposal(settings, words, _patch(subject, young))

    def install(self, script: Script, settings: Settings) -> None:
        gc.callbacks.append(_freezing(script, settings))


def _freezing(script: Script, settings: Settings) -> Callable[[str, Mapping[str, Any]], None]:
    """Acts when the first collection of the steps has ended, and is gone then."""
    begins = time.monotonic() + settings["after_s"]

    def freeze(phase: str, about: Mapping[str, Any]) -> None:
        if phase == "stop" and time.monotonic() >= begins:
            gc.callbacks.remove(freeze)
            gc.freeze()
            gc.set_threshold(settings["young_objects"], _OLDER, _OLDER)
            script.applied(f"gc.freeze(), gc.set_threshold({settings['young_objects']:_})")

    return freeze


# --- outside --------------------------------------------------------------------------------------


def _own_way(subject: "Subject") -> str | None:
    """The line that did such a thing itself."""
    for function in subject.case.code.functions:
        for row in function.lines:
            if row.hits and _OWN_WAY.search((row.source or "").partition("#")[0]):
                return f"{function.file}:{row.line}"
    return None


def _after_s(subject: "Subject") -> float:
    """When the warm-up was over in the run as it is."""
    case = subject.case
    return max(0.0, float(case.window[0][0] - case.process.start_ns) / 1e9)


def _young_objects(subject: "Subject") -> int | None:
    """As many as some steps leave behind; None if memory does not hold those of two."""
    from stepscope.advise.rules.gc_pressure import Collections

    freed = Collections(subject.case).freed_a_step
    steps = min(_STEPS, _steps_that_fit(subject)) if freed else _STEPS
    if steps < 2:
        return None
    wanted = min(_MOST_OBJECTS, max(_LEAST_OBJECTS, steps * freed))
    return round(wanted / _LEAST_OBJECTS) * _LEAST_OBJECTS


def _steps_that_fit(subject: "Subject") -> int:
    """In half of the free memory, if all that the steps needed is garbage of one of them."""
    from stepscope.trial.fixes.inside.free_memory import half_of_free_bytes

    memory = subject.case.process.memory
    memory = memory[memory.is_plausible]
    needed = int(memory.resident_bytes.max() - memory.resident_bytes.min()) if len(memory) else 0
    return half_of_free_bytes() // needed if needed else _STEPS


def _patch(subject: "Subject", young: int) -> str:
    statements = ["gc.collect()", "gc.freeze()", f"gc.set_threshold({young:_}, {_OLDER}, {_OLDER})"]
    return _before_the_loop(subject, statements) or "\n".join(
        ["import gc", "# after the set-up, before the first step:", *statements, ""]
    )


def _before_the_loop(subject: "Subject", statements: list[str]) -> str | None:
    from stepscope.advise.evidence.patch import diff, with_import

    header = subject.case.code.step_header
    text = subject.case.code.sources.text(header.file) if header else None
    loop = _outermost(text, header.line) if text and header else None
    if text is None or header is None or loop is None:
        return None
    indent = text.lines[loop.lineno - 1][: loop.col_offset]
    after = list(text.lines)
    after[loop.lineno - 1 : loop.lineno - 1] = [indent + each for each in statements]
    return diff(header.file, text.lines, with_import(after, "import gc"))


def _outermost(text: "Text", line: int) -> "Loop | None":
    """The outermost loop around a line, inside the same function."""
    from stepscope.advise.evidence.source import last_line

    function = text.function_at(line)
    first = function.lineno if function else 0
    around = [each for each in text.loops() if first <= each.lineno <= line <= last_line(each)]
    inside = [each for each in around if text.function_at(each.lineno) is function]
    return min(inside, key=lambda each: each.lineno, default=None)


FIX = GcFreeze()
