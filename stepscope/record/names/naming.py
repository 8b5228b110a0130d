"""How hooks get the id of a name: set by the recording, None while nothing records."""

from collections.abc import Callable

name_id: Callable[[str], int] | None = None  # text to the id of a record of kind "name"
