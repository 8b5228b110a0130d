"""Steps that hold several updates: five of a critic in a loop of their own, then the generator's.

The report takes a turn of the loop around both for the step. While the script runs, that turn is
known by its beginning: the critic's loop is entered again.
"""

from stepscope.record.code.code_table import table
from stepscope.record.steps import step_counter
from stepscope.typed import Final

FEW_TURNS: Final = 8  # of a critic: more are batches
_ENTRIES_TO_KNOW: Final = 3  # two may be alike by chance
_OFF: Final = 2  # updates: the one that goes on, and one before the loop


class _Entries:
    """How often a loop turned each time it was entered, and when that was."""

    def __init__(self, first_line: int, last_line: int) -> None:
        self._first_line, self._last_line = first_line, last_line
        self._all_turns = 0
        self._turns = 0  # of this entry
        self._usual: int | None = None  # turns of an entry; None: none has ended
        self._is_even = True  # all entries that have ended had as many
        self.stamps: list[int] = []

    def add(self, ticks: int, line_before: int) -> bool:
        """Whether it was entered."""
        if self.stamps and self._first_line <= line_before <= self._last_line:
            self._turns += 1
            self._all_turns += 1
            return False
        if self.stamps:
            self._usual = self._turns if self._usual is None else self._usual
            self._is_even &= self._turns == self._usual
        self._turns = 0
        self.stamps.append(ticks)
        return True

    def follows(self, updates: int) -> bool:
        """Whether it turns once for each update."""
        return abs(self._all_turns - updates) <= _OFF

    @property
    def updates(self) -> int | None:
        """In each entry. 1: those are the steps. None: it is too early to tell."""
        usual = self._usual or 0
        if not self._is_even or max(self._turns, usual) > FEW_TURNS:
            return 1
        return max(1, usual) if len(self.stamps) > _ENTRIES_TO_KNOW else None


class LargerSteps:
    def __init__(self) -> None:
        self._loops: dict[int, _Entries] = {}

    def turned(self, loop_id: int, ticks: int, line_before: int, updates: int) -> list[int]:
        """When each step began, if one has just begun here. `updates`: reported so far."""
        loop = self._loops.get(loop_id)
        if loop is None:
            place = table.loop(loop_id)
            loop = self._loops[loop_id] = _Entries(place.line, place.last_line)
        is_entered = loop.add(ticks, line_before)
        return loop.stamps if is_entered and self._are_of(loop, updates) else []

    def may_hold(self, updates: int) -> bool:
        """Whether updates are, or may turn out to be, only a part of a step."""
        if not step_counter.others_began_at():
            return False
        following = [loop for loop in self._loops.values() if loop.follows(updates)]
        return any(loop.updates is None or self._are_of(loop, updates) for loop in following)

    def _are_of(self, loop: _Entries, updates: int) -> bool:
        """The other optimizer steps between two entries, and not in the turns."""
        each = loop.updates or 1
        others = step_counter.others_began_at()
        return each > 1 and loop.follows(updates) and any(at % each == 0 for at in others)
