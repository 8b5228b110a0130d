"""A generator or a reader of the user's that makes the batches, in the steps."""

import dataclasses

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import OWN, where
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.phases.own_batches import OwnBatches, own_batches
from stepscope.model import Location


@dataclasses.dataclass(frozen=True)
class Making:
    looks: list[Look]
    location: Location | None
    library: str | None


def making_batches(case: Case) -> Making | None:
    """`for batch in batches(...)`, `batch = dataset[i]`: what happens there is waiting for it."""
    batches = batches_of(case)
    mine = [look for look in case.stacks.free() if batches.makes(look)]
    if not case.stacks.sure_share(mine):
        return None
    below = [Look(each.phase, batches.below(each), each.ns) for each in mine]
    location, library = where(case, below, mine)
    own = case.stacks.free(*OWN)
    return Making(mine + [look for look in own if batches.is_at(look)], location, library)


def batches_of(case: Case) -> OwnBatches:
    looks = case.stacks.time.looks
    return own_batches(case.process, case.steps, looks, is_framework=case.is_framework)


def reading_functions(case: Case) -> set[tuple[str, str]]:
    """Files and functions of the reader that a tf.data pipeline calls, on threads of its own."""
    answer = input_of(case.run, process=case.process.info.pid)
    is_pipeline = answer.loader is not None and answer.loader.workers is None
    return {(each.file, each.function or "") for each in answer.lines if is_pipeline}
