"""`python -m stepscope.profile script.py`: like `python -m cProfile`, with the same options."""

import importlib.machinery
import io
import os
import pstats
import runpy
import sys
import types
from optparse import OptionParser
from typing import Any

from stepscope.profile.running import runctx

USAGE = "stepscope.profile [-o output_file_path] [-s sort] [-m module | scriptfile] [arg] ..."


def main() -> None:
    parser = _parser()
    options, words = parser.parse_args()
    if not words:
        parser.print_usage()
        sys.exit(2)
    sys.argv[:] = words
    # Now: the script may change the folder.
    outfile = os.path.abspath(options.outfile) if options.outfile is not None else None
    code, space = _module(words[0]) if options.module else _script(words[0])
    try:
        runctx(code, space, None, outfile, options.sort)
    except BrokenPipeError as error:
        sys.stdout = None  # the reader is gone
        sys.exit(error.errno)


def _parser() -> OptionParser:
    parser = OptionParser(usage=USAGE, prog="stepscope.profile")
    parser.allow_interspersed_args = False  # what follows the script belongs to it
    parser.add_option("-o", "--outfile", help="Save stats to <outfile>")
    parser.add_option(
        "-s",
        "--sort",
        help="Sort order when printing to stdout, based on pstats.Stats class",
        default=2,
        choices=sorted(pstats.Stats.sort_arg_dict_default),
    )
    parser.add_option(
        "-m", dest="module", action="store_true", help="Profile a library module", default=False
    )
    return parser


def _module(name: str) -> tuple[str, dict[str, Any]]:
    code = "run_module(modname, run_name='__main__')"
    return code, {"run_module": runpy.run_module, "modname": name}


def _script(path: str) -> tuple[types.CodeType, dict[str, Any]]:
    """Its code, and the namespace of a main module, so that what it pickles can be found there."""
    sys.path.insert(0, os.path.dirname(path))
    try:
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec")
    except OSError as error:
        sys.exit(f"stepscope.profile: can't open file '{path}': {error.strerror}")
    module = types.ModuleType("__main__")
    module.__spec__ = importlib.machinery.ModuleSpec("__main__", loader=None, origin=path)
    vars(module).update(__file__=path, __package__=None, __cached__=None)
    sys.modules["__main__"] = module
    return code, vars(module)


if __name__ == "__main__":
    main()
