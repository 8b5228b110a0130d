"""Which question needs which other package: what `stepscope doctor` says about them."""

import importlib.util
from typing import Final, NamedTuple

from stepscope.show.report.bundle import is_built


class Question(NamedTuple):
    """`modules`: one of them is enough."""

    asks: str
    modules: tuple[str, ...]
    install: str


QUESTIONS: Final = (
    Question("operators in TensorBoard, of torch", ("torch_tb_profiler",), "torch-tb-profiler"),
    Question("operators in TensorBoard, of TensorFlow and JAX", ("xprof",), "xprof"),
    Question("calls drawn by snakeviz (export --to pstats)", ("snakeviz",), "snakeviz"),
    Question("lines as line_profiler prints them (export --to lprof)", ("line_profiler",),
             "line_profiler"),
    Question("%load_ext stepscope in notebooks", ("IPython",), "ipython"),
    Question("results in an experiment tracker (run --log)",
             ("wandb", "mlflow", "tensorboard", "tensorboardX"), "wandb, mlflow or tensorboard"),
    Question("tables in pandas (export --to csv)", ("pandas",), "pandas"),
)  # fmt: skip
_PAGE: Final = "report.html and 'stepscope view'"
_HOW_TO_GET_IT: Final = "install a wheel of stepscope, or Node 18 and stepscope again"


def answered_and_not() -> tuple[list[str], list[str]]:
    """What can be asked here, and for the rest what to install. Looked up, not imported."""
    answered = [_PAGE] if is_built() else []
    missing = [] if is_built() else [f"{_PAGE}: {_HOW_TO_GET_IT}"]
    for question in QUESTIONS:
        if any(importlib.util.find_spec(module) for module in question.modules):
            answered.append(question.asks)
        else:
            missing.append(f"{question.asks}: pip install {question.install}")
    return answered, missing
