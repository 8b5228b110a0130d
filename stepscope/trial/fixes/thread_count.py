"""Uses as many compute threads as there are cores.

Libraries read their environment variables when they load, which is after this; what the script asks
for itself, by a variable or a call, is cut down to the same number.
"""

import functools
import os
import re
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_VARIABLES: Final = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
)  # fmt: skip
_ASKS: Final = re.compile(r"(\bset_num_threads\()\d+\)")
_WAITS: Final = ("/threading.py", "/queue.py")
_TORCH: Final = ("set_num_threads", "set_num_interop_threads")
_TENSORFLOW: Final = ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads")


class ThreadCount:
    name = "thread-count"
    title = "as many threads as cores"
    stage: Stage = "other"
    keeps: Keeps = "rounding"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        if subject.finding is None and not subject.is_named:
            return Refusal("the script's threads do not keep each other from the cores")
        count = max(1, int(subject.cores) // _threads_at_work(subject))
        return Proposal({"count": count}, f"{count} compute threads", _patch(subject, count))

    def install(self, script: Script, settings: Settings) -> None:
        count: int = settings["count"]
        for name in _VARIABLES:
            os.environ[name] = str(count)
        _cut_variables(script, count)
        script.when_loaded("torch", lambda torch: _cut_calls(torch, _TORCH, script, count))
        script.when_loaded(
            "tensorflow",
            lambda tf: _cut_calls(tf.config.threading, _TENSORFLOW, script, count),
        )
        script.applied(f"{count} compute threads")


def _cut_variables(script: Script, count: int) -> None:
    kind: Any = type(os.environ)
    plain = kind.__setitem__

    def __setitem__(self: Any, name: str, value: str) -> None:
        if name in _VARIABLES and value.isdecimal():
            value = str(min(int(value), count))
        plain(self, name, value)

    script.patches.set(kind, "__setitem__", __setitem__)


def _cut_calls(owner: Any, names: tuple[str, ...], script: Script, count: int) -> None:
    for name in names:
        script.patches.set(owner, name, _cut(getattr(owner, name), count))


def _cut(plain: Any, count: int) -> Any:
    @functools.wraps(plain)
    def set_threads(wanted: int) -> Any:
        return plain(min(wanted, count) if wanted > 0 else count)

    return set_threads


# --- outside --------------------------------------------------------------------------------------


def _threads_at_work(subject: "Subject") -> int:
    """Of the script's own, on average and beside the one that steps: each lets a library start as
    many again. A thread that waits (a queue, a lock) does not count."""
    from stepscope.analyze.code.sampled_stacks import stacks_of, time_by_node
    from stepscope.analyze.libraries import users_files

    case = subject.case
    users, stacks, spent_ns = users_files(case.process), stacks_of(case.process), 0
    for seen in stacks.by_thread():
        for node, ns in time_by_node(seen).items() if seen.thread.id != case.steps.thread else ():
            files = [function.file for function in stacks.stack(node)]
            if users.intersection(files) and not files[-1].endswith(_WAITS):
                spent_ns += ns
    return max(1, round(spent_ns / max(1, int(case.steps.duration_ns.sum()))))


def _patch(subject: "Subject", count: int) -> str:
    variables = [f"export {name}={count}\n" for name in _VARIABLES[:3]]
    return _in_script(subject, count) or "".join(variables)


def _in_script(subject: "Subject", count: int) -> str | None:
    """Where the script asks torch for another number."""
    from stepscope.advise.evidence.patch import diff

    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        lines = text.lines if text else []
        found = diff(file, lines, [_ASKS.sub(rf"\g<1>{count})", line) for line in lines])
        if found:
            return found
    return None


FIX = ThreadCount()
