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
# What a rank's step consists of: its own work in slate, and the part of communication in which it
# waits in a darker shade than the rest.
RANK_COLOURS: Final = {
    "input": PHASE_COLOURS["input"],
    "own work": "#446b72",
    "communication itself": PHASE_COLOURS["communication"],
    "waiting for others": "#6e2a5a",
}
# XProf's categories, which imported traces have, in the colours of ours that mean about the same.
XPROF_COLOURS: Final = {
    "Device Compute": PHASE_COLOURS["compute"],
    "Device to Device": PHASE_COLOURS["transfer"],
    "Device Collectives": PHASE_COLOURS["communication"],
    "Input": PHASE_COLOURS["input"],
    "Output": PHASE_COLOURS["checkpoint"],
    "Kernel Launch": PHASE_COLOURS["prepare"],
    "Host Compute": PHASE_COLOURS["python"],
    "Compilation": PHASE_COLOURS["compile"],
    "All Others": PHASE_COLOURS["unattributed"],
}


def phase_colour(category: str) -> str:
    """Of one of ours, or of XProf's."""
    known = PHASE_COLOURS | XPROF_COLOURS
    return known.get(category, PHASE_COLOURS["unattributed"])


def part_colour(category: str) -> str:
    return PART_COLOURS.get(category, PART_COLOURS["steps"])
