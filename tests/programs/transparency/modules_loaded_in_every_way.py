"""import, reload, runpy, own finders and loaders, data of a package, modules that hide others."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import pkgutil
import runpy
import sys
import traceback

sys.dont_write_bytecode = False

folder = pathlib.Path("made")
(folder / "pkg").mkdir(parents=True)
(folder / "pkg" / "__init__.py").write_text("VALUE = 1\nprint('pkg', __name__)\n")
(folder / "pkg" / "__main__.py").write_text("import sys\nprint('main', __name__, sys.argv)\n")
(folder / "pkg" / "data.txt").write_text("some data")
(folder / "broken.py").write_text("import pkg\n\ndef f():\n    import missing_module\n\nf()\n")
(folder / "wrong.py").write_text("def f(:\n")
(folder / "slots.py").write_text("def __getattr__(name):\n    return name * 2\n")
(folder / "script.py").write_text("import sys\nresult = __name__, sys.argv[0]\n")
(folder / "colorsys.py").write_text("HIDDEN = True\n")
sys.path.insert(0, str(folder.resolve()))

import pkg

(folder / "pkg" / "__init__.py").write_text("VALUE = 22\nprint('again', __name__)\n")
importlib.invalidate_caches()
print(importlib.reload(pkg).VALUE, pkg.__spec__, pkg.__file__, type(pkg.__loader__).__name__)
print(pkgutil.get_data("pkg", "data.txt"), [m.name for m in pkgutil.iter_modules(pkg.__path__)])
print(runpy.run_path(str(folder / "script.py"))["result"], sys.argv[0] == __file__)
print(runpy.run_path(str(folder / "script.py"), run_name="__main__")["result"])
print(runpy.run_module("pkg", run_name="__main__", alter_sys=True)["__name__"])
for name in ("broken", "wrong", "no.such", "missing"):
    try:
        importlib.import_module(name)
    except (ImportError, SyntaxError):
        traceback.print_exc(file=sys.stdout)
    try:
        __import__(name)
    except (ImportError, SyntaxError) as error:
        print(type(error).__name__, error, getattr(error, "name", None))
try:
    import nothing_here
except ImportError as error:
    traceback.print_exc(file=sys.stdout)
import colorsys

print(colorsys.HIDDEN, importlib.import_module("slots").twice)
from slots import anything

print(anything)


class Loader(importlib.abc.Loader):
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile("MADE = __name__\ndef f():\n    return MADE\n", __file__, "exec"),
             module.__dict__)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        print("asked for", name)
        if name == "imaginary":
            return importlib.machinery.ModuleSpec(name, Loader())


sys.meta_path.insert(0, Finder())
import imaginary

print(imaginary.f(), imaginary.__spec__.name)
spec = importlib.util.spec_from_file_location("by_hand", folder / "script.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.result[0], importlib.util.find_spec("pkg").origin)
lazy_spec = importlib.util.find_spec("slots")
print(sorted(os.listdir(folder / "__pycache__")), os.path.exists(pkg.__cached__))
loader = importlib.machinery.SourceFileLoader("direct", str(folder / "script.py"))
print(loader.get_code("direct").co_name, loader.get_source("direct"))
saved = builtins_import = __builtins__.__import__
__builtins__.__import__ = lambda name, *rest, **more: (print("import", name),
                                                       saved(name, *rest, **more))[1]
import stringprep

__builtins__.__import__ = saved
