"""What `stepscope run` refuses, and its messages."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import permissions
from cli.running import program, read_json, run


def refusal(*words: str, cwd: Path, status: int = 2, path: str | None = None) -> str:
    """What it says when it refuses; nothing may have been started."""
    env = {"PATH": path} if path else {}
    recorded = run(*words, cwd=cwd, env=env)
    assert (recorded.returncode, recorded.stdout) == (status, b"")
    return recorded.stderr.decode()


def test_nothing_to_run(tmp_path: Path) -> None:
    assert "Nothing to run" in refusal(cwd=tmp_path)


def test_a_missing_script(tmp_path: Path) -> None:
    assert "no script 'train.py'" in refusal("train.py", cwd=tmp_path)
    assert not (tmp_path / "stepscope-runs").exists()


def test_a_folder_without_a_main_file(tmp_path: Path) -> None:
    assert "without __main__.py" in refusal(".", cwd=tmp_path)


def test_a_folder_with_a_main_file_runs(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("print('from the folder')")
    assert run("--quiet", "app", cwd=tmp_path).stdout == b"from the folder\n"


def test_an_unreadable_script(tmp_path: Path) -> None:
    script = tmp_path / "secret.py"
    script.write_text("pass")
    script.chmod(0)
    with permissions.enforced():
        assert "Cannot read 'secret.py'" in refusal("secret.py", cwd=tmp_path)


def test_python_itself_is_left_out(tmp_path: Path) -> None:
    assert "Leave 'python' out" in refusal("python", "train.py", cwd=tmp_path)


def test_a_command_that_is_not_python(tmp_path: Path) -> None:
    assert "is not a Python command" in refusal("ls", cwd=tmp_path)


def test_a_command_of_another_environment(tmp_path: Path) -> None:
    other = tmp_path / "other" / "bin"
    other.mkdir(parents=True)
    (tmp_path / "other" / "pyvenv.cfg").write_text("")
    (other / "python").symlink_to(sys.executable)
    tool = other / "sometool"
    tool.write_text(f"#!{other / 'python'}\nprint(1)\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    for word, path in (("sometool", f"{other}{os.pathsep}/usr/bin"), (str(tool), "/usr/bin")):
        said = refusal(word, cwd=tmp_path, path=path)
        assert f"runs in another Python, '{other / 'python'}'" in said
        assert "-m stepscope run" in said


def test_a_module_that_is_not_there_is_reported_by_python(tmp_path: Path) -> None:
    recorded = run("--quiet", "-m", "no_such_module_here", cwd=tmp_path)
    assert recorded.returncode == 1
    assert b"No module named no_such_module_here" in recorded.stderr


def test_an_earlier_run_is_replaced_only_by_force(tmp_path: Path) -> None:
    script = program("exit_with.py")
    assert run("-o", "run", script, "0", cwd=tmp_path).returncode == 0
    before = read_json(tmp_path / "run" / "run.json")
    assert "--force" in refusal("-o", "run", script, "0", cwd=tmp_path)
    assert read_json(tmp_path / "run" / "run.json") == before
    assert run("-o", "run", "--force", script, "5", cwd=tmp_path).returncode == 5
    assert read_json(tmp_path / "run" / "run.json")["command"] == [script, "5"]
    assert len(list((tmp_path / "run").glob("proc-*"))) == 1


def test_somebody_elses_folder_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")
    script = program("exit_with.py")
    assert "not a run" in refusal("-o", "photos", "--force", script, "0", cwd=tmp_path)
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]
    assert run("-o", "run", script, "0", cwd=tmp_path).returncode == 0
    (tmp_path / "run" / "thesis.tex").write_text("mine")
    assert "thesis.tex" in refusal("-o", "run", "--force", script, "0", cwd=tmp_path)
    assert (tmp_path / "run" / "thesis.tex").read_text() == "mine"


def test_a_file_where_the_run_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    said = refusal("-o", "file", program("exit_with.py"), "0", cwd=tmp_path)
    assert "is a file" in said


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    said = refusal("-o", "/proc/run", program("exit_with.py"), "0", cwd=tmp_path, status=4)
    assert "Cannot write to '/proc/run'" in said
    assert "-o" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", "much"), "write 3% or 0.03"),
        (("--budget", "0%"), "write 3% or 0.03"),
        (("--max-size", "big"), "write 512MB"),
        (("--max-size", "3KB"), "too small"),
        (("--stop-after", "soon"), "500s, 10min or 2000steps"),
        (("--stop-after", "1.5steps"), "500s, 10min or 2000steps"),
        (("--steps", "0"), "0 is not in the range"),
    ],
)
def test_values_that_make_no_sense(words: tuple[str, str], said: str, tmp_path: Path) -> None:
    assert said in refusal(*words, program("exit_with.py"), "0", cwd=tmp_path)


def test_the_options_travel_to_the_run(tmp_path: Path) -> None:
    given = (
        "-o run --exact --include lib.* --include x.py --exclude y --steps 7 --until-stable "
        "--stop-after 2min --budget 5% --max-size 1.5GB"
    )
    run(*given.split(), program("exit_with.py"), "0", cwd=tmp_path)
    assert read_json(tmp_path / "run" / "run.json")["options"] == {
        "calls": False,
        "ops": "auto",
        "losses": False,
        "log": False,
        "exact": True,
        "include": ["lib.*", "x.py"],
        "exclude": ["y"],
        "steps": 7,
        "steps_for_s": 0.0,
        "until_stable": True,
        "stop_after_s": 120.0,
        "stop_after_steps": None,
        "budget_share": 0.05,
        "max_bytes": 3 * 2**29,
        "packages": [],
        "step_loop": None,
        "guess_after_s": 3.0,
    }


def test_a_recorder_that_cannot_start_costs_the_profile_and_not_the_training(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, subprocess, sys\n"
        "home = os.environ['STEPSCOPE_HOME']\n"
        "broken = {**os.environ, 'STEPSCOPE_HOME': '/nowhere'}\n"
        "subprocess.run([sys.executable, '-I', '-c', 'print(1)'], check=True)\n"
        "subprocess.run([sys.executable, '-S', '-c', 'print(2)'], check=True)\n"
        "subprocess.run([sys.executable, '-c', 'print(3)'], check=True, env=broken)\n"
    )
    recorded = run("--quiet", "-o", "run", "script.py", cwd=tmp_path)
    assert (recorded.returncode, recorded.stdout) == (0, b"1\n2\n3\n")


def test_the_shim_is_understood_by_old_pythons() -> None:
    """A child may be any Python: nothing newer than string formatting with % may be in there."""
    shim = Path(__file__).parents[2] / "stepscope" / "record" / "shim" / "sitecustomize.py"
    code = "import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 4))"
    subprocess.run([sys.executable, "-c", code, str(shim)], check=True)
