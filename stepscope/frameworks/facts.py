"""The facts that are kept about a framework."""

from typing import NamedTuple


class Advice(NamedTuple):
    fix: str
    trial: str | None = None  # option of `stepscope try`, if it can apply the fix


class Words(NamedTuple):
    """What helps, in the terms of one framework, by what is slow."""

    eager: Advice  # every operator is launched from Python
    short_kernels: str
    idle_device: str
    mixed_precision: Advice
    waiting_for_input: Advice
    pageable_copy: Advice
    waiting_for_device: str
    exposed_collectives: str  # in a trace
    exposed_between_ranks: str
    recompilation: Advice  # about a size that changes
    memory_growth: str
    float32: Advice
    threads: str  # how to set their number; {count}: that number


class Framework(NamedTuple):
    module: str  # as it is imported
    packages: tuple[str, ...] = ()  # as it is installed: there may be several names
    folders: tuple[str, ...] = ()  # in the paths of its files
    words: Words | None = None  # None: it uses another framework's operators
