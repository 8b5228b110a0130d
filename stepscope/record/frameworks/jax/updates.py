"""JAX: which jitted function trains: the one that gets back what it returned the last time.

Arrays are recognized by identity; none is kept alive. Random keys come back too, and so do metrics
that are summed up over an evaluation: those are small compared with the parameters, which an
evaluation gets again and again without returning them.
"""

import weakref
from typing import Any, Final

from stepscope.record.frameworks.watching.training_batches import samples_in

_MOST_CALLS: Final = 4  # to find out
_MOST_ARRAYS: Final = 1_000  # that are looked for
_MUCH_LESS: Final = 0.1  # of the bytes that stay as they are: keys and metrics are less
_Refs = list["weakref.ref[Any]"]


class Updates:
    """What is known about one function after its first calls."""

    def __init__(self, tree_util: Any, array: type) -> None:
        self._leaves = tree_util.tree_leaves
        self._structure = tree_util.tree_structure
        self._array = array
        self._calls = 0
        self._returned: _Refs = []
        self._given: _Refs = []  # in arguments with several arrays
        self._batch: int | None = None  # which argument
        self.is_open = True  # it may still turn out
        self.trains = False
        self.updated_bytes = 0  # 0, though it trains: it returns gradients

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it has just become clear that it updates something."""
        returned, given = _alive(self._returned), _alive(self._given)
        leaves = [self._leaves(arg) for arg in (*args, *kwargs.values())]
        come_back = sum(_float_bytes(leaf) for each in leaves for leaf in each
                        if id(leaf) in returned)  # fmt: skip
        stay = sum(_float_bytes(leaf) for each in leaves for leaf in each
                   if id(leaf) in given and id(leaf) not in returned)  # fmt: skip
        several = [leaf for each in leaves if len(each) > 1 for leaf in each]
        self._given = self._refs(several)
        if not come_back or come_back < _MUCH_LESS * stay:
            return False
        is_new = [not any(id(leaf) in returned for leaf in each) for each in leaves[: len(args)]]
        self._found(args, is_new)
        self.updated_bytes, self.trains = come_back, True
        return True

    def ended(self, args: tuple[Any, ...], result: Any) -> None:
        self._calls += 1
        self._returned = self._refs(self._leaves(result))
        if self._calls < _MOST_CALLS:
            return
        self.trains = len(args) > 1 and self._is_like_first(args[0], result)
        self._found(args, [number > 0 for number in range(len(args))])

    def _refs(self, leaves: list[Any]) -> _Refs:
        arrays = [leaf for leaf in leaves if isinstance(leaf, self._array)]
        return [weakref.ref(array) for array in arrays[:_MOST_ARRAYS]]

    def _is_like_first(self, first: Any, result: Any) -> bool:
        """Gradients look like the parameters: the same structure, the same shapes."""
        wanted = self._structure(first), self._shapes(first)
        if not any(wanted[1]) or (len(wanted[1]) == 1 and type(result) is not tuple):
            return False  # an array of the same shape may be anything
        parts = [result, *(result if type(result) is tuple else ())]
        return any((self._structure(part), self._shapes(part)) == wanted for part in parts)

    def _shapes(self, tree: Any) -> list[Any]:
        return [getattr(leaf, "shape", ()) for leaf in self._leaves(tree)]

    def _found(self, args: tuple[Any, ...], may_be_batch: list[bool]) -> None:
        self.is_open = False
        self._returned, self._given = [], []
        numbers = [number for number, may_be in enumerate(may_be_batch) if may_be]
        batches = [number for number in numbers if self._is_batch(args[number])]
        self._batch = batches[0] if batches else None
        self._labels = batches[1] if len(batches) == 2 else None

    def _is_batch(self, arg: Any) -> bool:
        """All its arrays have the same number of rows: parameters do not."""
        rows = {shape[0] for shape in self._shapes(arg) if shape}
        return len(rows) == 1 and samples_in(arg) in rows

    def samples(self, args: tuple[Any, ...]) -> int:
        """Samples in the batch; 0: not known."""
        if self._batch is None or self._batch >= len(args):
            return 0
        if self._labels is None or self._labels >= len(args):
            return samples_in(args[self._batch])
        return samples_in((args[self._batch], args[self._labels]))


def _alive(refs: _Refs) -> set[int]:
    """Their ids; what is alive now stays alive until the call begins."""
    arrays = [ref() for ref in refs]
    return {id(array) for array in arrays if array is not None}


def _float_bytes(leaf: Any) -> int:
    dtype: Any = getattr(leaf, "dtype", None)
    is_float = getattr(dtype, "kind", "") in ("f", "c", "V")  # V: bfloat16 and similar types
    return int(leaf.size) * int(dtype.itemsize) if is_float else 0
