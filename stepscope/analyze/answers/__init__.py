"""The top floor: one file an answer, put together from the rooms below."""

import importlib
from collections.abc import Callable
from typing import Any, Final

# Questions whose answer is made in a room of its own, not here.
_ELSEWHERE: Final = {
    "lines": "analyze.code.lines",
    "functions": "analyze.code.functions",
    "stacks": "analyze.code.stack_tree",
    "ops": "analyze.operators.operators",
    "kernels": "analyze.operators.kernels",
    "device": "analyze.operators.device",
    "findings": "advise.findings",
}


def answer_to(question: str) -> Callable[..., Any]:
    home = _ELSEWHERE.get(question, f"analyze.answers.{question}")
    answer: Callable[..., Any] = getattr(importlib.import_module(f"stepscope.{home}"), question)
    return answer
