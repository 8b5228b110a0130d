"""The folder of our own code: nothing below it is the script's."""

import os

from stepscope.typed import Final

_ROOM: Final = os.path.dirname(os.path.abspath(__file__))
FOLDER: Final = os.path.dirname(os.path.dirname(_ROOM))  # of stepscope/record/names
