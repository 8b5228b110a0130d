"""The command with which each tool runs a program: one entry per tool."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

Command = Callable[[Path, Path], Sequence[str]]  # (program, folder for its output) -> arguments

PYTHON = sys.executable


def module(name: str, *arguments: str) -> list[str]:
    return [PYTHON, "-m", name, *arguments]


def plain(program: Path, _folder: Path) -> list[str]:
    return [PYTHON, str(program)]


def stepscope(program: Path, folder: Path, *options: str) -> list[str]:
    run = module("stepscope", "run", "--quiet", "-o", str(folder / "run"))
    return [*run, "--exclude", "*/library.py", *options, str(program)]


def stepscope_exact(program: Path, folder: Path) -> list[str]:
    return stepscope(program, folder, "--exact")


def line_profiler(program: Path, folder: Path) -> list[str]:
    return module("kernprof", "-l", "-o", str(folder / "out.lprof"), str(program))


def c_profile(program: Path, folder: Path) -> list[str]:
    return module("cProfile", "-o", str(folder / "out.pstats"), str(program))


def pyinstrument(program: Path, folder: Path) -> list[str]:
    saved = str(folder / "out.pyisession")
    return module("pyinstrument", "-r", "session", "-o", saved, str(program))


def viztracer(program: Path, folder: Path) -> list[str]:
    saved = str(folder / "out.json")
    return module("viztracer", "--quiet", "-o", saved, str(program))


def scalene(program: Path, folder: Path) -> list[str]:
    return module("scalene", "run", "-o", str(folder / "scalene.json"), str(program))


# Plain twice: how far two equal runs differ is the smallest difference that means anything.
CONTROL = "plain again"

TOOLS: dict[str, Command] = {
    "plain": plain,
    CONTROL: plain,
    "stepscope": stepscope,
    "stepscope --exact": stepscope_exact,
    "line_profiler": line_profiler,
    "cProfile": c_profile,
    "pyinstrument": pyinstrument,
    "VizTracer": viztracer,
    "Scalene": scalene,
}


def torch_profiler(program: Path, folder: Path) -> list[str]:
    return module("benchmarks.under_torch_profiler", str(folder / "trace.json"), str(program))


def traceml(program: Path, _folder: Path) -> list[str]:
    return [str(Path(PYTHON).parent / "traceml"), "run", str(program)]


def tensorboard(program: Path, folder: Path) -> list[str]:
    """Keras' own callback, which the program passes to `fit`."""
    return [PYTHON, str(program), "--tensorboard", str(folder / "logs")]


# Only for programs that train with this framework.
FRAMEWORK_TOOLS: dict[str, dict[str, Command]] = {
    "torch": {"torch.profiler": torch_profiler, "TraceML": traceml},
    "keras": {"TensorBoard callback": tensorboard},
}
ALL_TOOLS = {**TOOLS, **FRAMEWORK_TOOLS["torch"], **FRAMEWORK_TOOLS["keras"]}

# The packages whose versions the report names.
PACKAGES = (
    *"stepscope line_profiler pyinstrument viztracer scalene traceml-ai".split(),
    *"numpy torch tensorflow-cpu keras jax".split(),
)
