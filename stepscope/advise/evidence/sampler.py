"""What a loader does in the training process, with workers or without: the sampler."""

from collections.abc import Iterable
from typing import Final

from stepscope.analyze.code.sampled_steps import Look

_LOADER: Final = "/torch/utils/data/"
_FETCHERS: Final = "/torch/utils/data/_utils/fetch.py"


def in_sampler(waits: Iterable[Look]) -> list[Look]:
    """Those of the looks at waits for a batch that saw the user's code choose its samples: that is
    all that a loader calls besides what fetches them."""
    return [look for look in waits if _is_below_loader(look) and not _fetches(look)]


def _is_below_loader(look: Look) -> bool:
    files = [frame.function.file for frame in look.frames]
    loader = next((n for n, file in enumerate(files) if _LOADER in file), len(files))
    return any(frame.is_users for frame in look.frames[loader:])


def _fetches(look: Look) -> bool:
    return any(frame.function.file.endswith(_FETCHERS) for frame in look.frames)
