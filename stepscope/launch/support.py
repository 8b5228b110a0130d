"""Where stepscope can record at all."""

import sys
import sysconfig

from stepscope.errors import EnvironmentTrouble


def require_supported() -> None:
    if sys.platform == "win32":
        raise EnvironmentTrouble(
            "stepscope does not run on Windows: use it inside WSL, the Windows Subsystem for Linux."
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise EnvironmentTrouble(
            "This Python is a free-threaded build, which stepscope cannot record yet: "
            "use a Python 3.11 to 3.13 with the GIL."
        )
