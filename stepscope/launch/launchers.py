"""Launchers that start one process per rank: which one started us, which rank and launch we are.

A variable counts only if the launch has several ranks: one left over in an interactive shell
(`srun --pty bash`, a batch script, `torchrun --nproc-per-node 1`) means a single process, which the
supervisor treats like any other.
"""

import os
from collections.abc import Callable, Mapping

from stepscope.errors import InputError
from stepscope.typed import Final, Record

Environment = Mapping[str, str]

_TF_CONFIG: Final = "TF_CONFIG"
# Slurm numbers its batch script, interactive shells and similar steps from here up.
_FIRST_SPECIAL_STEP: Final = 0xFFFF_FFF0


class Launch(Record):
    """One rank's place in a launch."""

    variable: str  # the environment variable with the rank
    rank: int
    ranks: int | None
    launch_id: str | None  # the same in all ranks of a launch and in no other launch
    restart: int  # how often the launcher has restarted this launch


class _Kind(Record):
    rank: str
    ranks: tuple[str, ...]
    launch_id: Callable[[Environment], str | None]
    restart: str | None = None


def _slurm_id(environment: Environment) -> str | None:
    job, step = environment.get("SLURM_JOB_ID"), environment.get("SLURM_STEP_ID", "")
    return f"slurm-{job}.{step}" if job and step else None


def _pmix_id(environment: Environment) -> str | None:
    return environment.get("PMIX_NAMESPACE") or _slurm_id(environment)


def _elastic_id(environment: Environment) -> str | None:
    """torchrun's id is the word "none" unless one is given; on one node its process identifies the
    launch just as well."""
    run_id = environment.get("TORCHELASTIC_RUN_ID")
    if run_id and run_id != "none":
        return run_id
    one_node = environment.get("LOCAL_WORLD_SIZE") == environment.get("WORLD_SIZE")
    return f"torchrun-{_parent_identity()}" if run_id and one_node else None


# The first whose rank is set decides: of nested launchers the inner one counts.
_KINDS: Final = (
    _Kind("RANK", ("WORLD_SIZE",), _elastic_id, "TORCHELASTIC_RESTART_COUNT"),
    _Kind("OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_SIZE",), _pmix_id),
    _Kind("HOROVOD_RANK", ("HOROVOD_SIZE",), _pmix_id),
    _Kind("PMI_RANK", ("PMI_SIZE",), _pmix_id),
    _Kind(
        "SLURM_PROCID", ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"), _slurm_id, "SLURM_RESTART_COUNT"
    ),
)


def launch_of(environment: Environment) -> Launch | None:
    """The launch we are a rank of; None for an ordinary process."""
    for kind in _KINDS:
        rank = _number(environment.get(kind.rank))
        if rank is None:
            continue
        ranks = next((n for name in kind.ranks if (n := _number(environment.get(name)))), None)
        if ranks == 1 or (kind.rank == "SLURM_PROCID" and not _in_slurm_step(environment)):
            return None
        restart = _number(environment.get(kind.restart or "")) or 0
        return Launch(kind.rank, rank, ranks, kind.launch_id(environment), restart)
    return _tensorflow_launch(environment)


def _tensorflow_launch(environment: Environment) -> Launch | None:
    """TF_CONFIG names the whole cluster, and this process's task in it. Chiefs come before workers;
    parameter servers and evaluators are not ranks. Nothing in it distinguishes launches."""
    text = environment.get(_TF_CONFIG)
    if not text:
        return None
    import json

    try:
        config = json.loads(text)
        chiefs, workers = (len(config["cluster"].get(kind) or ()) for kind in ("chief", "worker"))
        first = {"chief": 0, "worker": chiefs}[config["task"]["type"]]
        rank, ranks = first + int(config["task"]["index"]), chiefs + workers
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return Launch(_TF_CONFIG, rank, ranks, None, 0) if 0 <= rank < ranks and ranks > 1 else None


def rank_of(environment: Environment) -> int | None:
    launch = launch_of(environment)
    return launch.rank if launch else None


def launch_name(launch: Launch) -> str:
    """The name of this launch's run folder."""
    if launch.launch_id is None:
        raise InputError(
            f"{launch.variable}={launch.rank} says that this is one rank of a launch, but nothing "
            "distinguishes it from other launches: give all ranks the same run folder with -o RUN. "
            f"If it is a single process, unset {launch.variable}."
        )
    safe = "".join(c if c.isalnum() or c in "-._" else "-" for c in launch.launch_id)
    return with_restart(safe.strip(".") or "launch", launch)


def with_restart(name: str, launch: Launch) -> str:
    """A launch that was restarted is another run."""
    return f"{name}-restart-{launch.restart}" if launch.restart else name


def _in_slurm_step(environment: Environment) -> bool:
    """A batch script has SLURM_PROCID=0 too, but only `srun` starts ranks."""
    step = _number(environment.get("SLURM_STEP_ID"))
    return step is not None and step < _FIRST_SPECIAL_STEP


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


def _parent_identity() -> str:
    """Process id and start time of our parent: the pair is never reused."""
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as file:
            after_name = file.read().rpartition(")")[2].split()
    except OSError:  # not Linux
        return str(parent)
    return f"{parent}-{after_name[19]}"
