"""What a script can see of how it was started."""

import builtins
import os
import sys
import threading

import __main__

print(sys.argv, sys.orig_argv[1:], sys.flags, sys.warnoptions, sys._xoptions)
print(__name__, __file__, __spec__, type(__loader__).__name__, __builtins__, __doc__, __package__)
answer: int = 42
print(sorted(vars(__main__)), __annotations__, __loader__.path, __loader__.name)
print(sys.path, sys.prefix, sys.executable, os.getcwd())
print([getattr(finder, "__name__", finder) for finder in sys.meta_path], len(sys.path_hooks))
print(sorted(set(dir(builtins)) - {"profile"}))  # offered on purpose, as kernprof does
print(sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile())
print(threading.enumerate(), threading.active_count(), threading.current_thread().name)
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.excepthook, sys.displayhook)
print(sys.unraisablehook, threading.excepthook is threading.__excepthook__, sys.breakpointhook)
print(sys.get_coroutine_origin_tracking_depth(), sys.get_asyncgen_hooks(), sys.dont_write_bytecode)
print("sitecustomize" in sys.modules, "usercustomize" in sys.modules, sys.stdin.closed)
print(sorted(name for name in vars(sys) if "stepscope" in name))
print([name for name in sys.path_importer_cache if "stepscope" in name and "shim" in name])
