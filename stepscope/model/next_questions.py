"""What to ask next of a run."""

from stepscope.model import Record


class NextQuestion(Record, frozen=True):
    words: str
    command: str  # as it is typed
