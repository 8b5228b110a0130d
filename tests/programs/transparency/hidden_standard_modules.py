"""Its folder has modules with the names of standard ones."""

import os
import sys

NAMES = ["socket", "statistics", "hashlib", "dataclasses", "inspect", "queue", "random", "fnmatch",
         "calendar", "struct", "json", "bisect", "typing", "contextlib", "textwrap", "bytecode",
         "msgspec", "click", "platform", "uuid", "tempfile", "glob", "ctypes", "marshal", "logging"]
if sys.argv[1:] == ["make"]:
    raise SystemExit
for name in NAMES:
    try:
        module = __import__(name)
        print(name, getattr(module, "MINE", False), os.path.basename(module.__file__ or "none"))
    except Exception as error:
        print(name, type(error).__name__, error)
for i in range(50):
    exec(compile(f"def f{i}():\n    return {i}\nf{i}()", __file__, "exec"))
