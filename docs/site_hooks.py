"""What the site has besides the pages of docs/: files that they link to, and the commands' help.

MkDocs calls these functions (`hooks` in mkdocs.yml). A link from a page to a file elsewhere in the
repository would lead nowhere on the site: that file becomes a page of its own below `project/`.
"""

import os
import posixpath
import re
import shutil
import subprocess
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]+)(?P<after>(?:#[^)\s]*)?\))")
PROJECT = "project"  # the folder of the pages that are made of other files
VERBS = (
    "run", "show", "compare", "try", "view", "export", "import", "doctor", "completion",
)  # fmt: skip
FENCES = {".py": "python", ".yml": "yaml", ".yaml": "yaml", ".sh": "bash"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for every file outside that a page links to, and for those that these link to."""
    waiting = [(DOCS / file.src_uri) for file in files.documentation_pages()]
    seen = set(waiting)
    while waiting:
        origin = waiting.pop()
        for target in targets(origin):
            if target in seen or target.is_relative_to(DOCS) or not target.is_file():
                continue
            seen.add(target)
            files.append(File.generated(config, address(target), content=content(target)))
            if target.suffix == ".md":
                waiting.append(target)
    return files


def targets(origin: Path) -> list[Path]:
    found = [match["target"] for match in LINK.finditer(origin.read_text())]
    return [(origin.parent / each).resolve() for each in found if "://" not in each]


def address(target: Path) -> str:
    """Where on the site a file is, as the path of a page."""
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix()
    name = target.relative_to(ROOT).as_posix()
    return f"{PROJECT}/{name}" if target.suffix == ".md" else f"{PROJECT}/{name}.md"


def content(target: Path) -> str:
    """Pages as they are; source text as a block."""
    text = target.read_text()
    if target.suffix == ".md":
        return text
    return f"# {target.name}\n\n```{FENCES.get(target.suffix, 'text')}\n{text}```\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    uri = page.file.src_uri
    origin = ROOT / uri.removeprefix(f"{PROJECT}/") if uri.startswith(f"{PROJECT}/") else DOCS / uri
    linked = LINK.sub(
        lambda match: relinked(match, origin.parent, posixpath.dirname(uri)), markdown
    )
    verb = uri.removesuffix(".md")
    return linked + (help_section(verb) if verb in VERBS else "")


def relinked(match: re.Match[str], folder: Path, site_folder: str) -> str:
    """The same link, from where the page is on the site to where its target is."""
    target = match["target"]
    if "://" in target or not (path := (folder / target).resolve()).is_relative_to(ROOT):
        return match[0]
    if not path.is_file():
        return match[0]  # MkDocs says that it leads nowhere
    return match["before"] + posixpath.relpath(address(path), site_folder or ".") + match["after"]


def help_section(verb: str) -> str:
    """What the installed command says about itself: it cannot be out of date."""
    return f"\n## `stepscope {verb} --help`\n\n```text\n{printed(verb, '--help')}```\n"


def printed(*words: str) -> str:
    command = ROOT / ".venv" / "bin" / "stepscope"
    found = str(command) if command.exists() else shutil.which("stepscope")
    if found is None:
        raise PluginError("stepscope is not installed: 'make demo' does that.")
    environment = {**os.environ, "COLUMNS": "88"}
    return subprocess.run(
        [found, *words], capture_output=True, text=True, check=True, env=environment
    ).stdout
