"""The C extension; everything else about the package is in pyproject.toml.

STEPSCOPE_WERROR=1 makes compiler warnings errors, STEPSCOPE_ASAN=1 builds for AddressSanitizer.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent


def native_files(pattern: str) -> list[str]:
    return sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "stepscope/native").glob(pattern)
    )


def wanted(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


# Hidden: nobody else may take the place of our functions, so calls and variables are direct.
compile_args = ["-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-pthread"]
compile_args.append("-fvisibility=hidden")
link_args = ["-pthread"]
if wanted("STEPSCOPE_WERROR"):
    compile_args.append("-Werror")
if wanted("STEPSCOPE_ASAN"):
    compile_args += ["-fsanitize=address", "-fno-omit-frame-pointer", "-g"]
    link_args.append("-fsanitize=address")

setup(
    ext_modules=[
        Extension(
            "stepscope.native._core",
            sources=native_files("*.c"),
            depends=native_files("*.h"),
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
    ]
)
