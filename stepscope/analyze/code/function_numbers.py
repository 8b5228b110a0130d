"""Functions as numbers, so that each is named once however often it is in trees and tables."""

from stepscope.model.page import Called


class FunctionNumbers(dict[Called, int]):
    """Gives each function its number."""

    def of(self, name: str, file: str, line: int, library: str | None = None) -> int:
        return self.setdefault((name, file, line, library), len(self))
