"""`%load_ext stepscope`: the magics `%stepline` and `%stepscope`, in IPython and notebooks."""

from typing import Any


def load(shell: Any) -> None:
    """Add the magics; loading twice replaces them."""
    from stepscope.ipython.magics import magics_for

    for magic in magics_for(shell):
        shell.register_magic_function(magic, "line_cell", magic.__name__)


def unload(shell: Any) -> None:
    """Remove the magics."""
    for known in shell.magics_manager.magics.values():
        for name in ("stepline", "stepscope"):
            known.pop(name, None)
