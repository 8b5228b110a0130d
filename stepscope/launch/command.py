"""What to start: the interpreter's own flags, then a script, a module or a console command."""

import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from stepscope.errors import InputError
from stepscope.launch import console, owners

# Flags of our own interpreter that the script's interpreter gets too. Those that say where imports
# come from (I, E, S, s, P) depend on how stepscope was installed or started.
_PASSED_ON: Final = frozenset("ObBdquv")
_WITH_VALUE: Final = ("-X", "-W", "--check-hash-based-pycs")


class Command(NamedTuple):
    """What the user asked to run."""

    arguments: list[str]  # the whole command line, interpreter first
    name: str  # names the run folder
    script: str | None  # its file; None for a module without one
    packages: tuple[str, ...]  # installed folders that count as the user's


def command_for(words: Sequence[str], *, module: bool) -> Command:
    """`words` are the script (or module, or console command) and its arguments."""
    if not words:
        raise InputError("Nothing to run: type 'stepscope run train.py' and the script's options.")
    target, arguments = words[0], list(words[1:])
    if module:
        return _module_command(target, arguments)
    if os.path.exists(target):
        return _script_command(target, arguments)
    return _console_command(target, arguments)


def _script_command(target: str, arguments: list[str]) -> Command:
    if os.path.isdir(target) and not os.path.isfile(os.path.join(target, "__main__.py")):
        raise InputError(f"'{target}' is a folder without __main__.py: give the script in it.")
    if not os.access(target, os.R_OK):
        raise InputError(f"Cannot read '{target}': check its permissions.")
    if console.is_installed_command(target):
        return _console_command(target, arguments)
    return Command(
        [sys.executable, *own_flags(sys.orig_argv), target, *arguments],
        os.path.splitext(os.path.basename(os.path.abspath(target)))[0],
        os.path.abspath(target),
        (),
    )


def _module_command(target: str, arguments: list[str]) -> Command:
    # Whether the module exists is up to the script's interpreter: it has the right path.
    return Command(
        [sys.executable, *own_flags(sys.orig_argv), "-m", target, *arguments],
        target,
        None,
        owners.of_module(target, arguments),
    )


def _console_command(target: str, arguments: list[str]) -> Command:
    found = console.find(target)
    return Command(
        [sys.executable, *found.flags, *own_flags(sys.orig_argv), found.path, *arguments],
        os.path.basename(target),
        found.path,
        owners.of_command(os.path.basename(target), arguments),
    )


def own_flags(command_line: Sequence[str]) -> list[str]:
    """The flags before the script, the module or the code that concern the script."""
    flags: list[str] = []
    rest = list(command_line[1:])
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "--"):
        word = rest.pop(0)
        option = next((name for name in _WITH_VALUE if word.startswith(name)), None)
        if option is None:
            flags += [f"-{letter}" for letter in word[1:] if letter in _PASSED_ON]
            if set(word) & set("mc"):
                break
        elif word != option:
            flags.append(word)
        else:
            flags += [word, *rest[:1]]
            rest = rest[1:]
    return flags
