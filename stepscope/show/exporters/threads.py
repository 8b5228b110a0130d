"""The threads whose stacks are exported."""

from stepscope.analyze.code.sampled_threads import SampledThread, sampled_threads
from stepscope.analyze.code.stack_tree import NO_SAMPLES
from stepscope.analyze.run import Run
from stepscope.errors import InputError


def threads_of(run: Run, process: int | None) -> list[SampledThread]:
    threads = sampled_threads(run, process)
    if not threads:
        raise InputError(f"'{run.path}' has no stacks to export. {NO_SAMPLES}")
    return threads
