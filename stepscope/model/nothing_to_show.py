"""What a view says that has nothing to show, in the terminal and on the page."""

from typing import Final

# By name of the view.
NOTHING_TO_SHOW: Final = {
    "device": "Nothing ran on a device.",
    "files": "No file was opened by the user's own code.",
    "functions": "No function was recorded.",
    "input": "No loader was used.",
    "lines": "No line of the user's own code was recorded.",
    "memory": "Not recorded in this run.",
    "ranks": "No ranks.",
    "steps": "No steps found.",
}
