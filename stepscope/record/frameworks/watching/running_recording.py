"""The running recording, for the watchers that must act when it begins or is about to end.

Watchers are installed before anything can be written and removed when nothing can be any more.
"""

from collections.abc import Callable

from stepscope.launch.options import RecordOptions
from stepscope.record.frameworks.watching import compiled_graphs, notes
from stepscope.signal_handlers import let_pass

Action = Callable[[], object]


class RunningRecording:
    """What a watcher may know about the running recording."""

    def __init__(
        self,
        options: RecordOptions,
        folder: Callable[[], str],
        note: Callable[[str], object],
        set_rank: Callable[[int], object],
    ) -> None:
        self.options = options
        self.folder = folder  # of this process
        self.note = note  # adds a note to the run, once
        self.set_rank = set_rank  # sets the rank of this process, once known


_running: RunningRecording | None = None
_on_begin: list[Callable[[RunningRecording], object]] = []
_on_end: list[Action] = []


def begin(recording: RunningRecording) -> None:
    global _running
    _running = recording
    for action in list(_on_begin):
        _guarded(recording, lambda action=action: action(recording))  # type: ignore[misc]


def end() -> None:
    """While everything can still be written."""
    global _running
    recording, _running = _running, None
    actions = _on_end[::-1]
    _on_begin.clear()
    _on_end.clear()
    for action in actions:
        if recording is not None:
            _guarded(recording, action)


def when_running(action: Callable[[RunningRecording], object]) -> None:
    """Now, or as soon as something can be written."""
    if _running is not None:
        action(_running)
    else:
        _on_begin.append(action)


@compiled_graphs.are_not_for
def report_rank(size: Callable[[], int], rank: Callable[[], int]) -> None:
    """What the framework says: not every launcher puts the rank into the environment."""
    try:
        if size() > 1:
            own = int(rank())
            when_running(lambda recording: recording.set_rank(own))
    except Exception as error:
        let_pass(error)
        notes.note(f"The rank of this process is not known: {error!r}")


def before_end(action: Action) -> None:
    _on_end.append(action)


def _guarded(recording: RunningRecording, action: Action) -> None:
    try:
        action()
    except Exception as error:
        let_pass(error)
        recording.note(f"Recording lost something in a framework: {error!r}")
