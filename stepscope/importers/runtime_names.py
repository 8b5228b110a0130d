"""What the names of an xplane's events mean: which are operators, and their usual names."""

import re
from collections.abc import Iterable
from typing import Final

from stepscope.importers.trace import Category, Source, Stack

# "model/dense/MatMul:MatMul": an operation of a graph, and its kind.
_OPERATION: Final = re.compile(r"(?s)(?:.*[^:])?:([A-Z_][A-Za-z0-9_]*)(?:#.*)?$")
_SOURCE: Final = re.compile(r"(.+?):(\d+)(?::\d+)?")
_NUMBERED: Final = re.compile(r"(?:\.\d+|\.clone|\.remat\d*)+$")
_SIZE: Final = re.compile(r"\b(?:size|num_bytes):\s*(\d+)")
ITERATOR: Final = "Iterator::"
GET_NEXT: Final = "IteratorGetNext"
CAPTURED: Final = "InstantiatedCapturedFunction::"  # a user's function inside a stage
PROCESS: Final = "ExecutorState::Process"
_ALLOCATION: Final = "MemoryAllocation"
_DEALLOCATION: Final = "MemoryDeallocation"
MEMORY: Final = (_ALLOCATION, _DEALLOCATION)
# Steps that the runtime marks itself, besides those that users and libraries mark.
INTERNAL_ROOTS: Final = ("FunctionRun", "SessionRun", "RunGraph", PROCESS, "TraceContext")
_CALLS: Final = "PjitFunction("
_OF_JAX: Final = (_CALLS, "jit_", "jit(")
_EAGER: Final = "EagerLocalExecute: "
_OF_TENSORFLOW: Final = ("EagerExecute", _EAGER, "FunctionRun", "SessionRun", PROCESS, ITERATOR)
# Graph functions run like operators, but only wait for the operators in them.
_FUNCTIONS: Final = ("__inference_", "__forward_", "__backward_")
# Libraries of collectives; what others call them; and how mixtures of experts send tokens to their
# experts and back (DeepEP, MoRI).
_COLLECTIVE: Final = re.compile(
    r"nccl|rccl|mscclpp|nvshmem|cross_device_reduce"
    r"|(?<![a-z])all[_-]?(reduce|gather|to[_-]?all)|All(Reduce|Gather|ToAll)"
    r"|(?<![a-z])reduce[_-]?scatter|ReduceScatter|collective-(permute|broadcast)"
    r"|(deep_ep|internode|intranode)\w*::(\w+::)*(cached_)?(notify_)?(dispatch|combine|barrier)\b"
    r"|Ep(Dispatch|Combine)"
)
_COPIES: Final = ("memcpy", "copy-start", "copy-done", "async-copy", "slice-start", "slice-done")


def framework_of(names: Iterable[str]) -> str | None:
    """JAX names what it jits; TensorFlow names its runtime and its operators."""
    found = {_framework(name) for name in names}
    return next((each for each in ("jax", "tensorflow") if each in found), None)


def _framework(name: str) -> str | None:
    if name.startswith(_OF_JAX):
        return "jax"
    return "tensorflow" if name.startswith(_OF_TENSORFLOW) or operator_of(name) else None


def operator_of(name: str) -> str | None:
    """`MatMul` of "model/dense/MatMul:MatMul"; None: not a TensorFlow operator."""
    found = _OPERATION.fullmatch(name)
    return found[1] if found and not found[1].startswith(_FUNCTIONS) else None


def host_category(name: str) -> tuple[Category, str]:
    """What it is, judging by its name, and what to call it."""
    if name.startswith("$"):
        return Category.PYTHON, name[1:]
    if name in MEMORY:
        return Category.MEMORY, name
    if name.startswith(ITERATOR):
        return Category.OTHER, ITERATOR + stage_of(name)
    if name.startswith(_CALLS):
        return Category.ANNOTATION, name
    operator = operator_of(name) or _eager_operator(name)
    return (Category.OP, operator) if operator else (Category.OTHER, name)


def _eager_operator(name: str) -> str | None:
    operator = name.removeprefix(_EAGER)
    return operator if operator != name and not operator.startswith(_FUNCTIONS) else None


def stage_of(name: str) -> str:
    """`Map` of "Iterator::Root::Prefetch::Map", `Prefetch` of "Iterator::Prefetch[0]"."""
    return name.rpartition("::")[2].partition("[")[0] or name


def framework_operator(text: str) -> str:
    """`MatMul` of "dense/MatMul:MatMul", `add` of "jit(f)/jit(main)/add:"."""
    path, colon, kind = text.rpartition(":")
    if colon and kind:
        return kind
    return (path or text).rstrip("/").rpartition("/")[2] or text


def instruction_name(shown: str) -> str:
    """`fusion` of "%fusion.3 = f32[...] fusion(...)": without what makes it unique."""
    return _NUMBERED.sub("", shown.partition(" = ")[0].lstrip("%"))


def stack_of(text: str) -> Stack:
    """Of "train.py:29", or of several such lines, the innermost last."""
    found = (_SOURCE.match(line) for line in reversed(text.splitlines()))
    return tuple(Source(each[1], int(each[2])) for each in found if each)


def copied_bytes(details: str) -> int:
    found = _SIZE.search(details)
    return int(found[1]) if found and len(found[1]) < 19 else 0


def device_category(name: str, is_copy: bool) -> Category:
    lower = name.lower()
    if lower.startswith("memset"):
        return Category.MEMSET
    if is_copy or lower.startswith(_COPIES):
        return Category.MEMCPY
    return Category.KERNEL


def is_collective(name: str) -> bool:
    return _COLLECTIVE.search(name) is not None


def call_name(name: str) -> str:
    """The name for a call into the device's library: some files name it after the kernel."""
    if name.startswith(("cu", "hip", "Memcpy", "Memset", "MEMCPY", "MEMSET")) and " " not in name:
        return name
    return "kernel launch"
