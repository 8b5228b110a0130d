"""The C extension and the report's page; everything else about the package is in pyproject.toml.

STEPSCOPE_WERROR=1 makes compiler warnings errors. STEPSCOPE_SANITIZE=address builds for
AddressSanitizer and UndefinedBehaviorSanitizer, STEPSCOPE_SANITIZE=thread for ThreadSanitizer.
The page is bundled from web/ with Node (STEPSCOPE_PAGE=off leaves it out). If that is not possible,
the package works without it: `stepscope view` and `export --to html` say what is missing.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))  # a build without isolation does not put it there

from building import compiler, page  # noqa: E402  it is beside this file


def native_files(pattern: str) -> list[str]:
    return sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "stepscope/native").rglob(pattern)
    )


def wanted(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


class BuildPy(build_py):
    """Also runs in editable installs."""

    def run(self) -> None:
        page.build()
        super().run()


class Sdist(sdist):
    def run(self) -> None:
        page.build()
        super().run()


class BuildExt(build_ext):
    def build_extensions(self) -> None:
        missing = compiler.what_is_missing()
        if missing is not None:
            sys.exit(missing)
        super().build_extensions()


# --- the C extension ------------------------------------------------------------------------------

# Hidden: no other library can replace our functions, so calls and variables are direct.
compile_args = ["-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-pthread"]
compile_args.append("-fvisibility=hidden")
link_args = ["-pthread"]
if wanted("STEPSCOPE_WERROR"):
    compile_args.append("-Werror")
sanitizers = {"address": "address,undefined", "thread": "thread"}.get(
    os.environ.get("STEPSCOPE_SANITIZE", "")
)
if sanitizers:
    compile_args += [f"-fsanitize={sanitizers}", "-fno-omit-frame-pointer", "-g"]
    link_args.append(f"-fsanitize={sanitizers}")

setup(
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "sdist": Sdist},
    ext_modules=[
        Extension(
            "stepscope.native._core",
            sources=native_files("*.c"),
            depends=native_files("*.h"),
            include_dirs=["stepscope/native"],
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
    ],
)
