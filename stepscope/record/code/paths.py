"""What lies at a path, links followed. os.path's own functions say "nothing" if a signal handler of
the script raises a TimeoutError meanwhile, which is an OSError, and the script never gets it."""

import os
import stat

from stepscope.signal_handlers import let_pass, suppressed


def is_file(path: str) -> bool:
    with suppressed(OSError, ValueError):
        return stat.S_ISREG(os.stat(path).st_mode)
    return False


def is_link(path: str) -> bool:
    with suppressed(OSError, ValueError):
        return stat.S_ISLNK(os.lstat(path).st_mode)
    return False


def exists(path: str) -> bool:
    """Also a link that leads nowhere."""
    with suppressed(OSError, ValueError):
        return bool(os.lstat(path))
    return False


def without_links(path: str) -> str:
    try:
        return os.path.realpath(path, strict=True)
    except (OSError, ValueError) as error:  # nothing is there, but what is above may be a link
        let_pass(error)
        return os.path.realpath(path)
