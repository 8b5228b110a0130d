"""Several of the programs here, one after the other, each with its output behind its name."""

import pathlib
import runpy
import sys

here = pathlib.Path(__file__).parent
for name in sys.argv[1:]:
    print(f"--- {name}")
    runpy.run_path(str(here / f"{name}.py"))
