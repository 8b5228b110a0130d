"""`stepscope run` under a launcher: every rank becomes its script, all write to one folder."""

import re
import subprocess
from pathlib import Path

from cli.running import finish, processes, program, read_json, run, runs_in, start


def rank(number: int, ranks: int = 2, **more: str) -> dict[str, str]:
    return {"RANK": str(number), "WORLD_SIZE": str(ranks), **more}


def launch(
    *words: str, cwd: Path, ranks: int = 2, **more: str
) -> list[tuple[int, int, bytes, bytes]]:
    """(pid, status, stdout, stderr) of all ranks, started at the same time."""
    started = [start(*words, cwd=cwd, env=rank(i, ranks, **more)) for i in range(ranks)]
    return [(process.pid, *finish(process)) for process in started]


def test_all_ranks_of_a_launch_write_to_one_folder(tmp_path: Path) -> None:
    ended = launch(program("print_rank.py"), cwd=tmp_path, TORCHELASTIC_RUN_ID="job-7")
    assert [status for _, status, _, _ in ended] == [0, 0]
    assert [folder.name for folder in runs_in(tmp_path)] == ["job-7"]
    found = processes(tmp_path / "stepscope-runs" / "job-7")
    assert sorted((process["role"], process["rank"]) for process in found) == [
        ("rank", 0),
        ("rank", 1),
    ]


def test_a_rank_is_the_process_that_the_launcher_started(tmp_path: Path) -> None:
    ended = launch(program("print_rank.py"), cwd=tmp_path, TORCHELASTIC_RUN_ID="job")
    printed = [out.decode() for _, _, out, _ in ended]
    assert printed == [f"rank {i} pid {pid}\n" for i, (pid, *_) in enumerate(ended)]


def test_only_rank_0_speaks(tmp_path: Path) -> None:
    ended = launch(program("print_rank.py"), cwd=tmp_path, TORCHELASTIC_RUN_ID="job")
    assert b"stepscope show" in ended[0][3]
    assert ended[1][3] == b""
    refused = launch("missing.py", cwd=tmp_path, TORCHELASTIC_RUN_ID="job")
    assert [status for _, status, _, _ in refused] == [2, 2]
    assert b"no script" in refused[0][3]
    assert refused[1][3] == b""


def test_a_launch_without_a_name_needs_one(tmp_path: Path) -> None:
    recorded = run(program("print_rank.py"), cwd=tmp_path, env=rank(0))
    assert recorded.returncode == 2
    assert b"-o RUN" in recorded.stderr
    assert b"unset RANK" in recorded.stderr
    ended = launch("-o", "run", program("print_rank.py"), cwd=tmp_path)
    assert [status for _, status, _, _ in ended] == [0, 0]
    assert len(processes(tmp_path / "run")) == 2


def test_a_second_launch_into_the_same_folder_is_refused(tmp_path: Path) -> None:
    words = ("-o", "run", program("print_rank.py"))
    launch(*words, cwd=tmp_path)
    again = launch(*words, cwd=tmp_path)
    assert [status for _, status, _, _ in again] == [2, 2]
    assert b"already holds rank 0" in again[0][3]


def test_a_restart_of_the_launch_is_a_run_of_its_own(tmp_path: Path) -> None:
    for count in ("0", "1"):
        launch(
            program("print_rank.py"),
            cwd=tmp_path,
            TORCHELASTIC_RUN_ID="job",
            TORCHELASTIC_RESTART_COUNT=count,
        )
    names = [folder.name for folder in runs_in(tmp_path)]
    assert names == ["job", "job-restart-1"]


def test_torchruns_word_none_is_no_name_but_its_process_is(tmp_path: Path) -> None:
    ended = launch(
        program("print_rank.py"), cwd=tmp_path, TORCHELASTIC_RUN_ID="none", LOCAL_WORLD_SIZE="2"
    )
    assert [status for _, status, _, _ in ended] == [0, 0]
    (folder,) = runs_in(tmp_path)
    assert re.fullmatch(r"torchrun-\d+-\d+", folder.name)


def test_a_variable_left_over_in_a_shell_of_one_process_changes_nothing(tmp_path: Path) -> None:
    left_over = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "5"}  # a batch script
    recorded = run("-o", "run", program("exit_with.py"), "3", cwd=tmp_path, env=left_over)
    assert recorded.returncode == 3
    assert (tmp_path / "run" / "supervisor.json").exists()
    (process,) = processes(tmp_path / "run")
    assert (process["role"], process["rank"]) == ("main", None)


def test_slurm_steps_are_named_after_job_and_step(tmp_path: Path) -> None:
    slurm = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "2", "SLURM_STEP_NUM_TASKS": "2"}
    started = [
        start(program("exit_with.py"), "0", cwd=tmp_path, env={**slurm, "SLURM_PROCID": str(i)})
        for i in range(2)
    ]
    assert [finish(process)[0] for process in started] == [0, 0]
    (folder,) = runs_in(tmp_path)
    assert folder.name == "slurm-77.2"
    assert read_json(folder / "run.json")["launcher"] == {
        "variable": "SLURM_PROCID",
        "ranks": 2,
        "id": "slurm-77.2",
        "restart": 0,
    }


def test_ranks_started_below_the_script_are_ranks_and_their_children_workers(
    tmp_path: Path,
) -> None:
    """`stepscope run torchrun train.py`: the launcher itself is what we started."""
    script = tmp_path / "launcher.py"
    script.write_text(
        "import os, subprocess, sys\n"
        'child = \'import subprocess, sys; subprocess.run([sys.executable, "-c", "pass"])\'\n'
        "for i in range(2):\n"
        "    env = {**os.environ, 'RANK': str(i), 'WORLD_SIZE': '2'}\n"
        "    subprocess.run([sys.executable, '-c', child], env=env, check=True)\n"
    )
    recorded = run("--quiet", "-o", "run", "launcher.py", cwd=tmp_path)
    assert (recorded.returncode, recorded.stderr) == (0, b"")
    found = [(process["role"], process["rank"]) for process in processes(tmp_path / "run")]
    assert sorted(found, key=str) == [
        ("main", None),
        ("rank", 0),
        ("rank", 1),
        ("worker", 0),
        ("worker", 1),
    ]


def test_a_signal_to_a_rank_is_the_scripts_own(tmp_path: Path) -> None:
    process = start(
        "-o", "run", program("wait_forever.py"), cwd=tmp_path, env=rank(1),
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().split()[1] == str(process.pid).encode()
    process.terminate()
    assert finish(process)[0] == -15
