"""`stepscope completion`: the scripts, and what they ask us for while somebody types."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.cli.completion import SHELLS
from stepscope.cli.main import VERBS, main


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_STEPSCOPE_COMPLETE={shell}_complete" in script
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def offered(*words: str) -> list[str]:
    """What is offered for the last word, as bash asks for it: its kind and itself."""
    asked = {"_STEPSCOPE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("stepscope", *words))}
    done = subprocess.run(
        [sys.executable, "-c", "from stepscope.cli.main import main; main()"],
        env={**os.environ, **asked, "COMP_CWORD": str(len(words))},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_verbs_are_completed() -> None:
    assert offered("co") == ["plain,compare", "plain,completion"]
    assert {f"plain,{verb}" for verb in VERBS} == set(offered(""))


def test_options_views_and_paths_are_completed() -> None:
    assert "plain,--log" in offered("run", "--lo")
    assert offered("show", "find") == ["plain,findings"]
    assert offered("show", "runs/a") == ["file,runs/a"]
    assert offered("run", "tra") == ["file,tra"]
    assert offered("export", "--to", "spee") == ["plain,speedscope"]


BASH = r"""
eval "$(%(stepscope)s completion bash)"
[ "$(complete -p stepscope)" = "complete -o nosort -F _stepscope_completion stepscope" ] || exit 3
COMP_WORDS=(stepscope show --ea)
COMP_CWORD=2
_stepscope_completion %(stepscope)s --ea
printf '%%s\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_real_bash_completes_what_is_typed(tmp_path: Path) -> None:
    program = tmp_path / "stepscope"
    program.write_text(f"#!{sys.executable}\nfrom stepscope.cli.main import main\nmain()\n")
    program.chmod(0o755)
    typed = ["bash", "--norc", "-c", BASH % {"stepscope": program}]
    done = subprocess.run(typed, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--each"], done.stderr
