"""`stepscope try`, interrupted while it writes its report: everything has been measured by then."""

import sys

from stepscope.cli.main import main
from stepscope.show.report import content


def interrupted(*_, **__):
    raise KeyboardInterrupt


content.content = interrupted
sys.argv = ["stepscope", "try", "--steps", "30", "healthy.py"]
sys.exit(main())
