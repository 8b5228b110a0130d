"""How much may be kept in memory."""

import os

from stepscope.signal_handlers import let_pass


def half_of_free_bytes() -> int:
    """Half of what is left on this machine: the script needs more as it goes on."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = [line for line in file if line.startswith("MemAvailable:")]
        return int(found[0].split()[1]) * 1024 // 2
    except (OSError, IndexError, ValueError) as error:
        let_pass(error)
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
