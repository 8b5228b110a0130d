"""What the names in a loop say about it: used only if the times alone are ambiguous."""

import re
from typing import Final, Literal

Meaning = Literal["rounds", "batches", "items"]

_ROUNDS: Final = re.compile(r"epoch|fold|trial|seed|repeat|restart|\brounds?\b", re.I)
_BATCHES: Final = re.compile(r"loader|batch_size|batches|minibatch|batchsize", re.I)
_ITEMS: Final = re.compile(
    r"sample|example|\brow|image|layer|network|\bnets?\b|param|\bhead|token|\bitem|feature|micro",
    re.I,
)
# One turn takes several of them: `for rows in permutation.reshape(-1, 64)`.
_SEVERAL: Final = re.compile(r"(sample|example|row|image|token|item|feature)s\b", re.I)
# `range(0, len(data), size)`; backwards, it walks layers or time.
_STRIDES: Final = re.compile(r"\brange\(" + r"(?:[^(),]|\([^()]*\))*," * 2 + r"(?!\s*-)")
_OVER_A_BATCH: Final = re.compile(r"^\W*(\w+\()*\w*batch\w*\W*$", re.I)
_STEP: Final = re.compile(r"(^|[^a-z])(step|iteration|iter|update|batch)($|[^a-z])", re.I)
_EVALUATION: Final = re.compile(
    r"(^|[^a-z])(eval|valid|test|predict|infer|score|metric|accuracy|val)", re.I
)
_RUNS_OUT: Final = re.compile(r"\s*(async\s+)?for\b|\s*while\b(?!\s*(True|1)\s*:)")
_WAITING: Final = re.compile(r"\bsleep\(|\.join\(|\.wait\(|is_alive\(|\.poll\(")


def meaning(header: str | None) -> Meaning | None:
    """What the turns of a loop are, read from its header."""
    if not header:
        return None
    target, _, iterated = header.partition(" in ")
    if _ROUNDS.search(target):
        return "rounds"
    if _OVER_A_BATCH.match(iterated.rstrip().rstrip(":")):
        return "items"
    if _SEVERAL.search(target):
        return "batches"
    if _ITEMS.search(target):
        return "items"
    return "batches" if _BATCHES.search(header) or _STRIDES.search(iterated) else None


def names_a_step(header: str | None) -> bool:
    """`for step in ...`, `while step < last`."""
    return bool(header and _STEP.search(header.partition(" in ")[0]))


def runs_out(header: str | None) -> bool:
    """Whether the header is reached again when the loop is over."""
    return bool(header and _RUNS_OUT.match(header))


def mentions_epochs(words: str | None) -> bool:
    return bool(words and _ROUNDS.search(words))


def mentions_evaluation(words: str | None) -> bool:
    return bool(words and _EVALUATION.search(words))


def only_waits(source: str | None) -> bool:
    return bool(source and _WAITING.search(source))
