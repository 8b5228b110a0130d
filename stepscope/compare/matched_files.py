"""Which file of the one run is which of the other, and which of its lines."""

import dataclasses
import functools
import os

from stepscope.analyze.run import shown_path
from stepscope.compare.matched_lines import matched_lines
from stepscope.compare.recording import Recording

Line = tuple[str, int]  # the path that AFTER shows, and the line there


@dataclasses.dataclass(frozen=True, eq=False)
class MatchedFiles:
    """Gives every line of both runs one name: that of AFTER where AFTER has it."""

    before: Recording
    after: Recording

    def of_after(self, path: str, line: int) -> Line:
        return shown_path(self.after.run, path), line

    def of_before(self, path: str, line: int) -> Line:
        """A deleted line keeps its own number, marked by a minus."""
        other = self._twins.get(path)
        if other is None:
            return shown_path(self.before.run, path), line
        moved = self._lines(path, other).get(line)
        return self.of_after(other, moved if moved is not None else -line)

    @functools.cached_property
    def _twins(self) -> dict[str, str]:
        """Path before to path after: of the same name below the start folder, the two scripts, or
        the only ones of that file name."""
        before, after = _sources(self.before), _sources(self.after)
        shown = {shown_path(self.after.run, path): path for path in after}
        twins = {path: shown[key] for path in before
                 if (key := shown_path(self.before.run, path)) in shown}  # fmt: skip
        scripts = self.before.run.info.script, self.after.run.info.script
        if scripts[0] in before and scripts[1] in after:
            twins.setdefault(scripts[0], scripts[1])
        for path in before:
            named = [each for each in after if os.path.basename(each) == os.path.basename(path)]
            if path not in twins and len(named) == 1 and named[0] not in twins.values():
                twins[path] = named[0]
        return twins

    @functools.cached_property
    def _known(self) -> dict[tuple[str, str], dict[int, int]]:
        return {}

    def _lines(self, path: str, other: str) -> dict[int, int]:
        if (path, other) not in self._known:
            texts = text_of(self.before, path), text_of(self.after, other)
            self._known[path, other] = _matched(*texts)
        return self._known[path, other]


def _matched(before: list[str] | None, after: list[str] | None) -> dict[int, int]:
    """Without both texts, by number."""
    if before is None or after is None:
        lines = max(len(before or ()), len(after or ()))
        return {line: line for line in range(1, lines + 1)}
    return matched_lines(before, after)


def _sources(recording: Recording) -> dict[str, str | None]:
    """The user's files, to the names of their texts."""
    return {file.path: file.source for file in recording.process.names.files.values()}


def text_of(recording: Recording, path: str) -> list[str] | None:
    """As it was when it ran."""
    return recording.run.source_lines(_sources(recording).get(path))
