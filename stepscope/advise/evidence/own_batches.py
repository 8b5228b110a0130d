"""A generator of the user's that makes the batches: what it does below the header of the loop."""

import dataclasses

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import OWN, where
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.phases.evaluating_lines import key_of
from stepscope.analyze.phases.own_batches import Header, below_header, makes_batch, own_headers
from stepscope.model import Location


@dataclasses.dataclass(frozen=True)
class Making:
    looks: list[Look]
    location: Location | None
    library: str | None


def making_batches(case: Case) -> Making | None:
    """`for batch in batches(...)`: what happens in the loop's header is waiting for its batch."""
    looks = case.stacks.time.looks
    headers = own_headers(case.process, case.steps, looks, is_framework=case.is_framework)
    mine = [look for look in case.stacks.free() if makes_batch(look, headers)]
    if not case.stacks.sure_share(mine):
        return None
    below = [Look(each.phase, below_header(each, headers), each.ns) for each in mine]
    location, library = where(case, below, mine)
    own = case.stacks.free(*OWN)
    return Making(mine + [look for look in own if _is_at(look, headers)], location, library)


def reading_functions(case: Case) -> set[tuple[str, str]]:
    """Files and functions of the reader that a tf.data pipeline calls, on threads of its own."""
    answer = input_of(case.run, process=case.process.info.pid)
    is_pipeline = answer.loader is not None and answer.loader.workers is None
    return {(each.file, each.function or "") for each in answer.lines if is_pipeline}


def _is_at(look: Look, headers: set[Header]) -> bool:
    """In the header itself: the batch before is freed there."""
    return bool(look.users) and (*key_of(look.users[-1]), look.users[-1].line) in headers
