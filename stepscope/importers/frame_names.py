"""Functions of Python as profilers name their events: file, first line and function."""

import re
from typing import Final

from stepscope.importers.trace import Frame

_FORMS: Final = (
    re.compile(r"(?P<file>.+?)\((?P<line>\d{1,9})\): (?P<function>.+)"),  # torch
    re.compile(r"(?P<function>.+?) \((?P<file>[^()]+):(?P<line>\d{1,9})\)"),  # VizTracer
    re.compile(r"\$?(?P<file>[^ ]+\.py):(?P<line>\d{1,9}) (?P<function>.+)"),  # TensorFlow, JAX
)
_LIBRARIES: Final = re.compile(
    r"(^|/)(site-packages|dist-packages|python3[.\d]*|torch|torchvision|torchaudio|numpy|tensorflow|"
    r"keras|jax|flax|optax|lightning|pytorch_lightning|transformers|accelerate|deepspeed)/"
    r"|^<|^(threading|runpy|contextlib|functools|selectors|queue)\.py$"
)
_ADDRESS: Final = re.compile(r" (?:object )?at 0x[0-9a-fA-F]+")  # the same function of many objects
BUILT_IN: Final = "~"  # in place of a file, as in cProfile


def frame_of(name: str) -> Frame:
    """What has no place in a file is built in, or a module of torch's."""
    for form in _FORMS:
        found = form.fullmatch(name)
        if found:
            return Frame(found["file"], int(found["line"]), found["function"])
    return Frame(BUILT_IN, 0, _ADDRESS.sub("", name))


def is_users(frame: Frame) -> bool:
    """Whether it looks like the user's own code."""
    return frame.file != BUILT_IN and not _LIBRARIES.search(frame.file)
