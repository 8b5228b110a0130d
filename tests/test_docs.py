"""The documentation is right: its commands, options, examples, links and numbers exist."""

import ast
import enum
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import click
import pytest

from stepscope.cli.main import VERBS, group
from stepscope.store import format as store_format

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *DOCS.rglob("*.md"),
    ]
)
# The roadmap names verbs that do not exist yet.
PAGES_OF_TODAY = [page for page in PAGES if page.name != "roadmap.md"]

FILE_BLOCK = re.compile(r"<!-- file: (?P<path>\S+) -->\n```\w+\n(?P<text>.*?)```", re.DOTALL)
COMMAND_LINE = re.compile(r"^(?:\$ )?stepscope (?P<arguments>.+)$", re.MULTILINE)
CONSOLE_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
TREE_BLOCK = re.compile(r"```\n(stepscope/ .*?)```", re.DOTALL)
TREE_ROW = re.compile(r"^(?P<indent> *)(?P<name>\w+)/ +\S")
SOURCE_ENDINGS = (".py", ".c", ".h")
CODE_PATH = re.compile(r"`([\w.]+/[\w./]*)`")


def title(page: Path) -> str:
    return str(page.relative_to(ROOT))


def command_of(verb: str) -> click.Command:
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    return command


def options_of(command: click.Command) -> set[str]:
    options = [each for each in command.params if isinstance(each, click.Option)]
    return {name for option in options if not option.hidden for name in option.opts}


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_its_page(verb: str) -> None:
    assert (DOCS / f"{verb}.md").is_file()
    assert f"{verb}.md" in (DOCS / "index.md").read_text()


def test_the_site_shows_the_help_of_every_command() -> None:
    listed = re.search(r"^VERBS = (\(.*?^\))", (DOCS / "site_hooks.py").read_text(), re.M | re.S)
    assert listed is not None
    assert ast.literal_eval(listed[1]) == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_command_is_on_its_page(verb: str) -> None:
    text = (DOCS / f"{verb}.md").read_text()
    known = options_of(command_of(verb)) - {"--help", "-h"}
    # One spelling of an option is enough.
    unsaid = {
        param.name
        for param in command_of(verb).params
        if isinstance(param, click.Option)
        and known.intersection(param.opts)
        and not any(f"`{name}" in text or f" {name}" in text for name in param.opts)
    }
    assert not unsaid


@pytest.mark.parametrize("page", PAGES_OF_TODAY, ids=title)
def test_every_command_line_in_the_docs_can_be_typed(page: Path) -> None:
    blocks = CONSOLE_BLOCK.findall(page.read_text())
    for match in COMMAND_LINE.finditer("\n".join(blocks)):
        verb, *words = match["arguments"].split()
        assert verb in VERBS, match[0]
        options = [word.partition("=")[0] for word in before_the_script(verb, words)]
        unknown = {each for each in options if each.startswith("-")} - options_of(command_of(verb))
        assert not unknown, match[0]


def before_the_script(verb: str, words: list[str]) -> list[str]:
    """Only our own arguments: the script's may be anything."""
    if verb not in ("run", "try"):
        return words
    for place, word in enumerate(words):
        if word.endswith(".py") or word == "-m" or word == "my-console-command":
            return words[:place]
    return words


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_examples_in_the_docs_are_the_files_that_the_tests_run(page: Path) -> None:
    for match in FILE_BLOCK.finditer(page.read_text()):
        source = (ROOT / match["path"]).read_text()
        assert match["text"] == source, f"copy {match['path']} into {title(page)} again"


def test_every_example_file_is_shown_in_the_docs() -> None:
    text = "".join(page.read_text() for page in PAGES)
    scripts = [path.relative_to(ROOT) for path in (ROOT / "examples").rglob("*.py")]
    assert len(scripts) > 4
    assert not [str(path) for path in scripts if str(path) not in text]


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(page.read_text())]
    local = [each.partition("#")[0] for each in targets if "://" not in each]
    assert not [each for each in local if each and not (page.parent / each).exists()]


def test_every_page_has_its_place_on_the_site() -> None:
    """The decisions are reached through their index."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    placed = set(re.findall(r"[\w/.-]+\.md$", nav, re.MULTILINE))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert len(placed) > 60
    assert placed == {page for page in pages if not page.startswith("decisions/0")}


def test_the_design_names_the_verbs_that_there_are() -> None:
    named = re.findall(r"^stepscope (\w+)", (DOCS / "design.md").read_text(), re.MULTILINE)
    assert set(named) == set(VERBS)


def folders_of_the_design() -> list[str]:
    """Paths of the folders in its tree, which has two spaces per level."""
    block = TREE_BLOCK.search((DOCS / "design.md").read_text())
    assert block is not None
    found, above = [], [""] * 9
    for row in block[1].splitlines():
        match = TREE_ROW.match(row)
        assert match, row
        depth = len(match["indent"]) // 2
        above[depth] = match["name"]
        found.append("/".join(above[: depth + 1]))
    return found


def test_the_tree_of_the_design_is_the_tree_of_folders() -> None:
    sources = [path for path in (ROOT / "stepscope").rglob("*") if path.suffix in SOURCE_ENDINGS]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in sources}
    assert sorted(folders_of_the_design()) == sorted(folders)


def is_here(path: str) -> bool:
    return any((folder / path).exists() for folder in (ROOT, ROOT / "stepscope"))


def drawings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("drawings", DOCS / "drawings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_drawings_are_those_that_the_script_draws() -> None:
    module = drawings()
    old = [
        each.name
        for each in module.DRAWINGS
        if (DOCS / each.name).read_text() != module.svg_of(each)
    ]
    assert not old, "run docs/drawings.py"


def test_every_file_in_the_drawings_is_there() -> None:
    boxes = [box for each in drawings().DRAWINGS for box in (*each.process, *each.other)]
    paths = [path for box in boxes for path, _ in box.rows]
    assert len(paths) > 20
    assert not [path for path in paths if not is_here(path)]


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/how-it-works.md", "docs/design.md"])
def test_every_file_that_a_page_on_the_code_names_is_there(name: str) -> None:
    paths = [path for path in CODE_PATH.findall((ROOT / name).read_text()) if "NAME" not in path]
    assert paths
    assert not [path for path in paths if not is_here(path)]


def test_every_number_of_the_file_format_is_on_its_page() -> None:
    text = (DOCS / "file-format.md").read_text()
    enums = [
        each
        for _, each in inspect.getmembers(store_format, inspect.isclass)
        if issubclass(each, enum.IntEnum | enum.IntFlag)
        and each.__module__ == store_format.__name__
    ]
    members = [member for each in enums for member in each]
    assert len(members) > 30
    unsaid = [
        member.name
        for member in members
        if not re.search(rf"`{member.name}`? {member.value}\b", text)
    ]
    assert not unsaid


def test_every_file_of_the_run_folder_is_on_the_page() -> None:
    text = (DOCS / "file-format.md").read_text()
    files = [
        value
        for name, value in vars(store_format).items()
        if name.endswith(("_FILE", "_FOLDER")) and isinstance(value, str)
    ]
    assert len(files) > 6
    assert not [name for name in files if name not in text]


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_every_make_target_the_docs_name_is_there(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)`", page.read_text()))
    assert named <= targets


def sentences_in(path: Path) -> list[str]:
    """All strings of a source file; what is filled in at run time is an ellipsis."""
    tree = ast.parse(path.read_text())
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    plain = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [*(filled(node) for node in joined), *(text for text in plain if isinstance(text, str))]


def filled(node: ast.JoinedStr) -> str:
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else filled_value(part)
        for part in node.values
    )


def filled_value(part: ast.expr) -> str:
    """A constant of the file format is written out; anything else is an ellipsis."""
    name = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
    constant = name.rpartition(".")[2]
    value = getattr(store_format, constant, None) if constant.isupper() else None
    return value if isinstance(value, str) else "…"


def test_every_message_that_is_explained_is_one_we_print() -> None:
    headings = re.findall(r"^### (.+)$", (DOCS / "messages.md").read_text(), re.MULTILINE)
    said = [
        re.sub(r"%[rs]|\{\w+\}", "…", text)
        for path in (ROOT / "stepscope").rglob("*.py")
        for text in sentences_in(path)
    ]
    assert len(headings) > 15
    assert not [each for each in headings if not any(each in text for text in said)]
