"""`stepscope run`: the script behaves as without it, whatever the script is."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clean_environment import environment
from cli.running import (
    command,
    plain,
    processes,
    program,
    read_json,
    run,
    runs_in,
)


def test_the_script_finds_itself_started_as_without_us(tmp_path: Path) -> None:
    script = program("say_who_i_am.py")
    ours = run("--quiet", script, "a b", "--", "--quiet", "-o", cwd=tmp_path)
    alone = plain(script, "a b", "--", "--quiet", "-o", cwd=tmp_path)
    assert json.loads(ours.stdout) == json.loads(alone.stdout)
    assert ours.stderr == alone.stderr


def test_a_relative_script_and_a_module_find_themselves_too(tmp_path: Path) -> None:
    shutil.copy(program("say_who_i_am.py"), tmp_path / "me.py")
    for ours, alone in ((("me.py",), ("me.py",)), (("-m", "me"), ("-m", "me"))):
        recorded = run("--quiet", *ours, "x", cwd=tmp_path)
        assert json.loads(recorded.stdout) == json.loads(plain(*alone, "x", cwd=tmp_path).stdout)


def test_our_interpreters_flags_are_the_scripts(tmp_path: Path) -> None:
    words = command("--quiet", program("say_who_i_am.py"))
    words[1:1] = ["-X", "dev", "-W", "error::UserWarning", "-O"]
    ours = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, timeout=60)
    alone = plain(
        "-X", "dev", "-W", "error::UserWarning", "-O", program("say_who_i_am.py"), cwd=tmp_path
    )
    assert json.loads(ours.stdout) == json.loads(alone.stdout)


@pytest.mark.parametrize(
    "how", "0 3 255 text exception _exit interrupt SIGTERM SIGKILL SIGSEGV SIGABRT".split()
)
def test_the_exit_status_and_the_last_words_are_the_scripts(how: str, tmp_path: Path) -> None:
    ours = run("--quiet", "-o", "run", program("exit_with.py"), how, cwd=tmp_path)
    alone = plain(program("exit_with.py"), how, cwd=tmp_path)
    assert ours.returncode == alone.returncode
    assert (ours.stdout, ours.stderr) == (alone.stdout, alone.stderr)
    ended = read_json(tmp_path / "run" / "supervisor.json")
    code = alone.returncode
    assert (ended["exit_status"], ended["signal"]) == ((None, -code) if code < 0 else (code, None))


def test_a_syntax_error_is_told_by_python_itself(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    ours = run("--quiet", "broken.py", cwd=tmp_path)
    alone = plain("broken.py", cwd=tmp_path)
    assert (ours.returncode, ours.stderr) == (alone.returncode, alone.stderr) == (1, alone.stderr)


def test_binary_input_and_output_pass_untouched(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5000
    (tmp_path / "in").write_bytes(data)
    with open(tmp_path / "in", "rb") as stdin:
        recorded = run(program("copy_stdin.py"), cwd=tmp_path, stdin=stdin)
    assert recorded.stdout == data


def test_an_inherited_descriptor_is_inherited(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    try:
        run(program("write_to_descriptor.py"), str(writer), cwd=tmp_path, pass_fds=[writer])
        assert os.read(reader, 100) == b"through the inherited one"
    finally:
        os.close(reader)
        os.close(writer)


def test_the_users_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    # Our own interpreter runs it too, as any Python does: only the script's is of interest.
    (own / "sitecustomize.py").write_text(
        "import os\nif 'STEPSCOPE_RUN' in os.environ: print('customized', __file__, __name__)"
    )
    (tmp_path / "script.py").write_text(
        "import sys, sitecustomize; print(sys.modules['sitecustomize'].__file__)"
    )
    recorded = run("--quiet", "script.py", cwd=tmp_path, env={"PYTHONPATH": str(own)})
    file = str(own / "sitecustomize.py")
    expected = f"customized {file} sitecustomize\n{file}\n"
    assert (recorded.stdout.decode(), recorded.stderr) == (expected, b"")


def test_a_broken_sitecustomize_is_reported_as_without_us(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise RuntimeError('mine')")
    (tmp_path / "script.py").write_text("print('still here')")
    recorded = run("--quiet", "script.py", cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert recorded.stdout == b"still here\n"
    assert b"Error in sitecustomize" in recorded.stderr
    assert b"RuntimeError: mine" in recorded.stderr


def test_modules_of_the_scripts_own_keep_their_place_before_the_standard_ones(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "src"
    (folder / "inspect").mkdir(parents=True)
    (folder / "inspect" / "__init__.py").write_text("MINE = 'inspect'")
    for name in ("dataclasses", "json", "struct"):
        (folder / f"{name}.py").write_text(f"MINE = {name!r}")
    shutil.copy(program("import_my_own.py"), folder / "script.py")
    recorded = run("--quiet", "src/script.py", cwd=tmp_path)
    assert recorded.stdout == b"['dataclasses', 'inspect', 'json', 'struct']\n", recorded.stderr


def test_every_interpreter_below_has_its_own_folder(tmp_path: Path) -> None:
    recorded = run("-o", "run", program("start_children.py"), cwd=tmp_path)
    assert recorded.stdout == b"499500\n"
    found = processes(tmp_path / "run")
    assert sorted(process["role"] for process in found) == ["main", "worker", "worker"]
    assert len({process["pid"] for process in found}) == 3


def test_a_child_in_isolated_mode_runs_unrecorded(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', 'print(1)'])"
    )
    recorded = run("--quiet", "-o", "run", "script.py", cwd=tmp_path)
    assert (recorded.stdout, recorded.stderr) == (b"1\n", b"")
    assert len(processes(tmp_path / "run")) == 1


def test_a_console_command_on_the_path_is_run_with_its_package_as_the_users(
    tmp_path: Path,
) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    made = commands / "mytrain"
    made.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv)\nsys.exit(4)\n")
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    recorded = run("--quiet", "-o", "run", "mytrain", "--x", cwd=tmp_path, env={"PATH": path})
    assert recorded.returncode == 4, recorded.stderr
    assert recorded.stdout.decode() == f"{[str(made), '--x']}\n"
    assert read_json(tmp_path / "run" / "run.json")["script"] == str(made)


def test_without_a_name_every_run_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    script = program("exit_with.py")
    started = [
        subprocess.Popen(command("--quiet", script, "0"), cwd=tmp_path, env=environment())
        for _ in range(3)
    ]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    names = [folder.name for folder in runs_in(tmp_path)]
    assert len(names) == 3
    assert all(re.fullmatch(r"exit_with-\d{8}-\d{6}(-\d)?", name) for name in names)


def test_the_run_stays_where_it_was_started_whatever_folder_the_script_goes_to(
    tmp_path: Path,
) -> None:
    (tmp_path / "script.py").write_text("import os; os.chdir('/'); print(os.getcwd())")
    assert run("-o", "here", "script.py", cwd=tmp_path).stdout == b"/\n"
    assert len(processes(tmp_path / "here")) == 1


def test_secrets_in_the_command_are_not_written_down(tmp_path: Path) -> None:
    recorded = run(
        "-o", "run", program("exit_with.py"), "0", "--token", "s3cr3t", "--password=s3cr3t",
        "https://me:s3cr3t@host/x", cwd=tmp_path,
    )  # fmt: skip
    assert recorded.returncode == 0
    assert b"s3cr3t" not in recorded.stderr
    written = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path.name for path in written if b"s3cr3t" in path.read_bytes()] == []
    assert "***" in read_json(tmp_path / "run" / "run.json")["command"]


def test_the_summary_goes_to_stderr_and_quiet_silences_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('mine')")
    loud = run("-o", "loud", "script.py", cwd=tmp_path)
    assert loud.stdout == b"mine\n"
    assert b"stepscope show loud" in loud.stderr
    assert run("--quiet", "-o", "quiet", "script.py", cwd=tmp_path).stderr == b""


def test_the_machine_is_looked_at_from_start_to_end(tmp_path: Path) -> None:
    run("--quiet", "-o", "run", program("exit_with.py"), "0", cwd=tmp_path)
    rows = [json.loads(row) for row in (tmp_path / "run" / "system.jsonl").read_text().splitlines()]
    assert len(rows) >= 2
    assert rows[0]["monotonic_ns"] < rows[-1]["monotonic_ns"]
    assert all(row["memory_available_bytes"] > 0 and row["devices"] is not None for row in rows)


def test_the_git_commit_and_whether_it_was_changed_are_noted(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("pass\n")
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    for words in (["init", "-q"], ["add", "script.py"], [*identity, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)
    run("--quiet", "-o", "clean", "script.py", cwd=tmp_path)
    (tmp_path / "script.py").write_text("1\n")
    run("--quiet", "-o", "changed", "script.py", cwd=tmp_path)
    clean = read_json(tmp_path / "clean" / "run.json")["git"]
    assert re.fullmatch("[0-9a-f]{40}", clean["commit"])
    assert clean["dirty"] is False
    assert read_json(tmp_path / "changed" / "run.json")["git"] == {**clean, "dirty": True}
