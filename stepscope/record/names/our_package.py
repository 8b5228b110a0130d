"""Where our own code lies: what is below is none of the script's."""

import os
from typing import Final

_ROOM: Final = os.path.dirname(os.path.abspath(__file__))
FOLDER: Final = os.path.dirname(os.path.dirname(_ROOM))  # of stepscope/record/names
