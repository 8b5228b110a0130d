"""The C extension and the report's page; everything else about the package is in pyproject.toml.

STEPSCOPE_WERROR=1 makes compiler warnings errors. STEPSCOPE_SANITIZE=address builds for
AddressSanitizer and UndefinedBehaviorSanitizer, STEPSCOPE_SANITIZE=thread for ThreadSanitizer.
The page is bundled from web/ with Node. If that is not possible, the package works without it:
`stepscope view` and `export --to html` say what is missing.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
WEB = ROOT / "web"
BUNDLE = ROOT / "stepscope" / "show" / "report" / "bundle"
MADE_FROM = BUNDLE / "made-from.txt"
NPM_CI = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
PATIENCE_S = 300


def native_files(pattern: str) -> list[str]:
    return sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "stepscope/native").rglob(pattern)
    )


def wanted(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


# --- the page -------------------------------------------------------------------------------------


def web_fingerprint() -> str:
    """A hash of everything that the bundle is made from."""
    files = [*WEB.glob("*.json"), *WEB.glob("*.mjs"), *(WEB / "src").rglob("*")]
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        digest.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build_page() -> None:
    """Bundle the page unless it is up to date; a failure is printed and changes nothing."""
    if not (WEB / "package.json").is_file():
        return
    fingerprint = web_fingerprint()
    if MADE_FROM.is_file() and MADE_FROM.read_text().strip() == fingerprint:
        return
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        print("stepscope: Node is not installed: the report's page is not built.", file=sys.stderr)
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([npm, *NPM_CI], cwd=WEB, check=True, timeout=PATIENCE_S)
            subprocess.run([node, "build.mjs", folder], cwd=WEB, check=True, timeout=PATIENCE_S)
            BUNDLE.mkdir(exist_ok=True)
            for name in ("report.js", "report.css"):
                shutil.copyfile(Path(folder) / name, BUNDLE / f".{name}")
                (BUNDLE / f".{name}").replace(BUNDLE / name)
        MADE_FROM.write_text(fingerprint + "\n")
    except (OSError, subprocess.SubprocessError) as error:
        print(f"stepscope: the report's page was not built: {error}", file=sys.stderr)


class BuildPy(build_py):
    """Also runs in editable installs."""

    def run(self) -> None:
        build_page()
        super().run()


class Sdist(sdist):
    def run(self) -> None:
        build_page()
        super().run()


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
    cmdclass={"build_py": BuildPy, "sdist": Sdist},
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
