"""Prints what a script can find out about how it was started."""

import json
import sys

print(
    json.dumps(
        {
            "argv": sys.argv,
            "path0": sys.path[0],
            "path": sys.path,
            "name": __name__,
            "file": __file__,
            "spec": __spec__ and [__spec__.name, __spec__.origin, __spec__.has_location],
            "loader": type(__loader__).__name__,
            "main": sys.modules["__main__"].__dict__ is globals(),
            "flags": str(sys.flags),
            "sitecustomize": "sitecustomize" in sys.modules,
            "warnoptions": sys.warnoptions,
        }
    )
)
