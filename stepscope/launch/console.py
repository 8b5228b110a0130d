"""Console commands: finding them, and checking whether they run in this Python environment."""

import os
import re
import shlex
import shutil
import sys
import sysconfig
from typing import Final, NamedTuple

from stepscope.errors import InputError

_HEAD_BYTES: Final = 4096
_PYTHON: Final = re.compile(r"(python|pypy)\d*(\.\d+)*t?")


class Console(NamedTuple):
    path: str
    flags: list[str]  # of the interpreter, as the command's first line has them


def find(name: str) -> Console:
    """The command that a shell would find, else the one beside our own interpreter."""
    if _PYTHON.fullmatch(os.path.basename(name)):
        raise InputError(f"Leave '{name}' out: 'stepscope run train.py' starts Python itself.")
    on_path = shutil.which(name)
    beside = shutil.which(name, path=sysconfig.get_path("scripts"))
    candidates = [path for path in (on_path, beside) if path is not None]
    if not candidates:
        raise InputError(
            f"There is no script '{name}' in '{os.getcwd()}' and no command of that name on PATH."
        )
    for path in candidates:
        line = interpreter_of(path)
        if line is not None and is_this_environment(line[0]):
            return Console(path, _flags(line[1:]))
    raise _unusable(candidates[0])


def is_installed_command(path: str) -> bool:
    """A file that an installer wrote beside the interpreter it names. The user's own script may
    name any interpreter: when it is started as `python script`, that line has no effect."""
    line = interpreter_of(path) if os.path.isfile(path) else None
    return line is not None and os.path.dirname(line[0]) == os.path.dirname(os.path.abspath(path))


def interpreter_of(path: str) -> list[str] | None:
    """Interpreter and flags of a Python command, None for anything else."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    if not head.startswith(b"#!"):
        return None
    lines = head.decode("utf-8", "replace").splitlines()
    words = _split(lines[0][2:])
    if words and os.path.basename(words[0]) == "sh" and len(lines) > 1:
        words = _behind_shell(lines[1])
    if words and os.path.basename(words[0]) == "env":
        words = _behind_env(words[1:])
    is_python = bool(words) and _PYTHON.fullmatch(os.path.basename(words[0]))
    return words if is_python else None


def is_this_environment(interpreter: str) -> bool:
    """The same virtual environment, or the same program if there is none."""
    return _environment(interpreter) == _environment(sys.executable)


def _environment(interpreter: str) -> str:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))
    if os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
        return os.path.realpath(folder)
    return os.path.realpath(interpreter)


def _behind_shell(line: str) -> list[str]:
    """pip's way around a path too long for a first line: '''exec' /path/python "$0" "$@" """
    words = _split(line.replace("'''exec'", "exec", 1))
    return [word for word in words[1:] if word not in ("$0", "$@")] if words[:1] == ["exec"] else []


def _behind_env(words: list[str]) -> list[str]:
    """`env python3` and `env -S python3 -u`: the interpreter on PATH."""
    while words and (words[0].startswith("-") or "=" in words[0]):
        words = words[1:]
    found = shutil.which(words[0]) if words else None
    return [found, *words[1:]] if found else words


def _flags(words: list[str]) -> list[str]:
    """Without those that would prevent recording; -I is -E, -s and -P."""
    flags = []
    for word in words:
        if word.startswith("-") and word[1:].isalpha() and word[1] not in "XW":
            letters = word[1:].replace("I", "sP").replace("E", "").replace("S", "")
            word = f"-{letters}"
        if word != "-":
            flags.append(word)
    return flags


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _unusable(path: str) -> InputError:
    line = interpreter_of(path)
    if line is None:
        return InputError(
            f"'{path}' is not a Python command: give the Python script that it starts, "
            "or -m and its module."
        )
    return InputError(
        f"'{path}' runs in another Python, '{line[0]}': install stepscope there "
        f"('{line[0]} -m pip install stepscope') and start it with '{line[0]} -m stepscope run'."
    )
