"""Train on batches that all have the shape of the first, to see what one shape for all would give.

Padding with a mask needs the script's own loss, so from outside only its ceiling can be measured.
"""

import functools
import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.data_loaders import MODULE
from stepscope.trial.fixes.torch.results import each_tensor

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_ADVICE: Final = (
    "# Pad each batch to one of a few sizes, and leave the padding out of the loss with a mask.\n"
)
_Shape = tuple[int, ...]


class EvenShapes:
    name: Final = "even-shapes"
    title: Final = "one shape for all batches"
    stage: Stage = "compile"
    keeps: Keeps = "training"
    is_ceiling: Final = True

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.named_function import finding_of

        finding = finding_of(subject, "recompilation")
        if finding is None or not subject.frameworks & {"jax", "torch"}:
            return None
        return Proposal({}, "every batch in the shape of the first", _ADVICE)

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded("jax", functools.partial(_even_jitted, script))
        script.when_loaded(MODULE, functools.partial(_even_loaders, script))


FIX: Final = EvenShapes()


class _First:
    """The shapes that came first, by their place among all arrays of a batch."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._shapes: list[_Shape] = []
        self._is_full = False
        self._next = 0

    def begin(self) -> None:
        self._is_full, self._next = bool(self._shapes), 0

    def wanted(self, shape: _Shape) -> _Shape:
        """For the next array of the batch; its own, where it is another kind of array."""
        number, self._next = self._next, self._next + 1
        if not self._is_full:
            self._shapes.append(shape)
        first = self._shapes[number] if number < len(self._shapes) else shape
        if first == shape or len(first) != len(shape) or not math.prod(shape):
            return shape
        self._script.applied(f"{shape} as {first}")
        return first


# --- JAX: what is compiled for a shape is a jitted function ---------------------------------------


def _even_jitted(script: Script, jax: ModuleType) -> None:
    jit = jax.jit

    @functools.wraps(jit)
    def even(*args: Any, **kwargs: Any) -> Any:
        made = jit(*args, **kwargs)
        return _Jitted(made, script) if args else lambda function: _Jitted(made(function), script)

    script.patches.set(jax, "jit", even)


class _Jitted:
    """A jitted function that gets its arguments in the shapes of its first call."""

    def __init__(self, made: Callable[..., Any], script: Script) -> None:
        functools.update_wrapper(self, made)
        self._made = made
        self._first = _First(script)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_made"], name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        jax, numpy = sys.modules["jax"], sys.modules["numpy"]
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return self._made(*args, **kwargs)  # inside another one, whose shapes are even
        self._first.begin()
        args, kwargs = jax.tree_util.tree_unflatten(
            tree, [self._even(leaf, jax, numpy) for leaf in leaves]
        )
        return self._made(*args, **kwargs)

    def _even(self, leaf: Any, jax: Any, numpy: Any) -> Any:
        if not isinstance(leaf, numpy.ndarray | jax.Array):
            return leaf
        wanted = self._first.wanted(leaf.shape)
        # Not in JAX, which would compile that for every shape.
        return leaf if wanted == leaf.shape else numpy.resize(numpy.asarray(leaf), wanted)


# --- torch: the batches of a loader ---------------------------------------------------------------


def _even_loaders(script: Script, module: ModuleType) -> None:
    iterator = module._BaseDataLoaderIter
    following = iterator.__next__
    loaders: dict[int, tuple[Any, _First]] = {}  # by the sampler, which is the loader's own

    @functools.wraps(following)
    def __next__(self: Any) -> Any:
        batch = following(self)
        sampler = self._index_sampler
        first = loaders.setdefault(id(sampler), (sampler, _First(script)))[1]
        first.begin()
        return each_tensor(sys.modules["torch"], batch, lambda tensor: _resized(tensor, first))

    script.patches.set(iterator, "__next__", __next__)


def _resized(tensor: Any, first: _First) -> Any:
    shape = tuple(tensor.shape)
    wanted = first.wanted(shape)
    if wanted == shape:
        return tensor
    size = math.prod(wanted)
    flat = tensor.reshape(-1)
    return flat.repeat(-(-size // len(flat)))[:size].reshape(wanted)
