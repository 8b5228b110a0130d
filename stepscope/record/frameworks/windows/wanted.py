"""Whether the operators of a process are recorded at all."""

from typing import Final

from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.store.writer import may_grow_to

# 50,000 events of torch are 20 MB of trace; the traces of others are bounded by time only.
_LARGEST_TRACE_BYTES: Final = 128 * 2**20


def are_operators_wanted(recording: RunningRecording) -> bool:
    """Not without --ops, nor where the system would end the script for the size of a file."""
    if recording.options.ops == "off":
        return False
    if not may_grow_to(_LARGEST_TRACE_BYTES):
        recording.note("Operators are not recorded: the process may not write files that large.")
        return False
    return True
