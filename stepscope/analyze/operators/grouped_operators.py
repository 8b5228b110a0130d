"""The operators with one row per name, per name and shape, or per module."""

from stepscope.analyze.operators.modules import ops_by_module
from stepscope.analyze.operators.operators import ops as by_name
from stepscope.model.ops import OpsAnswer
from stepscope.store.reader import Run


def ops(run: Run, by_shape: bool = False, by_module: bool = False) -> OpsAnswer:
    """The most own time first."""
    return ops_by_module(run) if by_module else by_name(run, by_shape)
