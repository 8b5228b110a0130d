"""Counts the training steps while they happen, for code that waits for one of them.

Analysis decides in the end what a step is, with the whole run at hand. Here the same order applies
as far as possible: steps that the script marks, then a framework's training batches, then the first
optimizer that steps twice. Steps that are only known by their loop are not counted here.
"""

from collections.abc import Callable

from stepscope.typed import Final

# Called with the number of the step that has ended. Returns the next step to be called for: those
# in between may be left out. None: the next one.
Listener = Callable[[int], int | None]


class Source:
    """What reports that a step ended; a higher source overrides the lower ones."""

    OPTIMIZER: Final = 1
    BATCH: Final = 2
    MARK: Final = 3


_TWICE: Final = 2
NEVER: Final = 1 << 62
_MANY: Final = 10  # steps that a new listener may miss if there is no other
_listeners: tuple[Listener, ...] = ()
_source = Source.OPTIMIZER
_optimizer_steps: dict[int, int] = {}
_others_steps: dict[int, dict[int, int]] = {}  # of the others, when an optimizer first stepped
_anchor: int | None = None  # the optimizer whose steps count
_steps = 0


def reset() -> None:
    global _source, _anchor, _steps, _listeners
    _source, _anchor, _steps, _listeners = Source.OPTIMIZER, None, 0, ()
    _optimizer_steps.clear()
    _others_steps.clear()


def listen(listener: Listener) -> None:
    """It is called on the training thread; exceptions it raises reach the script."""
    global _listeners
    _listeners = (*_listeners, listener)


def optimizer_stepped(number: int, steps: int = 0) -> int:
    """`steps`: how many there are, if the caller counts them. Returns the number of steps at which
    to call this next."""
    global _anchor
    if _source != Source.OPTIMIZER:
        return NEVER
    _others_steps.setdefault(number, dict(_optimizer_steps))
    count = _optimizer_steps[number] = steps or _optimizer_steps.get(number, 0) + 1
    if _anchor is None and count == _TWICE:
        _anchor = number
    if number == _anchor:
        return _ended(count)
    return count + 1 if _anchor is None else NEVER


def others_began_at() -> list[int]:
    """After how many of the counted steps each other optimizer made its first."""
    if _source != Source.OPTIMIZER or _anchor is None:
        return []
    others = (steps for number, steps in _others_steps.items() if number != _anchor)
    return [steps.get(_anchor, 0) for steps in others]


def is_marked() -> bool:
    """The script itself marks its steps."""
    return _source == Source.MARK


def step_ended(source: int) -> None:
    """A framework's batch, or the script's own mark."""
    global _source
    if source < _source:
        return
    steps = _steps + 1 if source == _source else 1
    _source = source
    _ended(steps)


def _ended(steps: int) -> int:
    global _steps
    _steps = steps
    waits = [listener(steps) or steps + 1 for listener in _listeners]
    return min(waits, default=steps + _MANY)
