"""The colour of each phase, the same on every page and in the terminal.

Chosen by a search for the set whose closest pair is as far apart as possible, for people with any
kind of colour vision (tests/web/test_colours.py has the measure), while each hue stays near the one
that it had. Parts of the whole run are shades of slate: a bar of the run is not one of a step.
"""

from typing import Final

PHASE_COLOURS: Final = {
    "input": "#fd2e22",
    "files": "#85f08a",
    "prepare": "#f7cd31",
    "transfer": "#65c2fd",
    "forward": "#1f40f0",
    "backward": "#a80e2a",
    "optimizer": "#8baa81",
    "communication": "#ce9ac2",
    "sync": "#8948a9",
    "compute": "#7f0aa5",
    "compile": "#ac5d86",
    "evaluation": "#55a0fd",
    "checkpoint": "#fb8e03",
    "logging": "#6f8d4f",
    "gc": "#aa7abe",
    "python": "#6178fa",
    "profiler": "#cee1d8",
    "unattributed": "#c0c4c1",
    "outliers": "#4e5950",
}

# Neighbours in time are not neighbours in shade.
PART_COLOURS: Final = {
    "imports": "#97c0c7",
    "set-up": "#668e95",
    "steps": "#395f66",
    "evaluation": "#4f767d",
    "saving": "#7ea7ae",
    "teardown": "#b0dae1",
}
_OF_XPROF: Final = {
    "Input": "input",
    "Kernel Launch": "prepare",
    "Device Collectives": "communication",
    "Host Compute": "python",
    "Device Compute": "compute",
    "Compilation": "compile",
    "All Others": "unattributed",
}


def phase_colour(category: str) -> str:
    """Of one of ours, or of XProf's."""
    return PHASE_COLOURS.get(_OF_XPROF.get(category, category), PHASE_COLOURS["unattributed"])


def part_colour(category: str) -> str:
    return PART_COLOURS.get(category, PART_COLOURS["steps"])
