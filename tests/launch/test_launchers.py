"""Which launcher started us, and as which rank."""

import pytest

from stepscope.errors import InputError
from stepscope.launch.launchers import launch_name, launch_of


def test_a_plain_environment_is_no_launch() -> None:
    assert launch_of({"HOME": "/h"}) is None


@pytest.mark.parametrize(
    ("environment", "rank", "name"),
    [
        ({"RANK": "1", "WORLD_SIZE": "4", "TORCHELASTIC_RUN_ID": "a/b c"}, 1, "a-b-c"),
        (
            {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3", "PMIX_NAMESPACE": "n@1"},
            2,
            "n-1",
        ),
        ({"HOROVOD_RANK": "0", "HOROVOD_SIZE": "2", "PMIX_NAMESPACE": "7"}, 0, "7"),
        ({"PMI_RANK": "5", "PMI_SIZE": "8", "SLURM_JOB_ID": "3", "SLURM_STEP_ID": "0"}, 5,
         "slurm-3.0"),
        ({"SLURM_PROCID": "6", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "3", "SLURM_STEP_ID": "1",
          "SLURM_RESTART_COUNT": "2"}, 6, "slurm-3.1-restart-2"),
    ],
)  # fmt: skip
def test_each_launcher_names_rank_and_launch(
    environment: dict[str, str], rank: int, name: str
) -> None:
    launch = launch_of(environment)
    assert launch is not None
    assert (launch.rank, launch_name(launch)) == (rank, name)


def test_the_innermost_launcher_counts() -> None:
    slurm = {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "3", "SLURM_STEP_ID": "1"}
    launch = launch_of({**slurm, "RANK": "3", "WORLD_SIZE": "4"})
    assert launch is not None
    assert (launch.variable, launch.rank) == ("RANK", 3)


@pytest.mark.parametrize(
    "environment",
    [
        {"RANK": "0", "WORLD_SIZE": "1"},  # torchrun with one process
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"},  # srun --pty bash
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "8"},  # a batch script
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_STEP_ID": "4294967291"},  # the same
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_STEP_ID": "2",
         "SLURM_STEP_NUM_TASKS": "1"},
        {"RANK": "high"},
    ],
)  # fmt: skip
def test_a_variable_of_a_single_process_is_no_launch(environment: dict[str, str]) -> None:
    assert launch_of(environment) is None


def test_a_rank_alone_is_believed_and_asks_for_a_name() -> None:
    launch = launch_of({"RANK": "0"})
    assert launch is not None
    with pytest.raises(InputError, match="-o RUN"):
        launch_name(launch)


def test_torchruns_default_id_is_none_on_several_nodes() -> None:
    launch = launch_of(
        {"RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "none"}
    )
    assert launch is not None
    assert launch.launch_id is None
