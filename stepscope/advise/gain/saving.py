"""What a fix takes off the step: a rule says what goes away, and how much of it at least."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Saving:
    """Off the mean measured step, in ns. `least` and `most` bound what is `expected`."""

    expected: float
    least: float
    most: float

    @staticmethod
    def part_of(ns: float, *, expected: float, least: float, most: float = 1.0) -> "Saving":
        """These parts (0 to 1) of a piece of the step."""
        return Saving(expected=ns * expected, least=ns * least, most=ns * most)

    @staticmethod
    def nothing() -> "Saving":
        """For a fix that is not about time."""
        return Saving(expected=0.0, least=0.0, most=0.0)

    def limited_to(self, ns: float) -> "Saving":
        """Limits what is expected. `most` stays as it is: the limit is an estimate, too."""
        return dataclasses.replace(self, expected=min(self.expected, ns), least=min(self.least, ns))
