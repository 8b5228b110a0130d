"""The data goes one way: which part may import which, read from the source text."""

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "stepscope"

# Part to the other parts it may import. A part is the first name below the package, except for
# what the recording side needs from the store: the format, and what writes it.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(), "signal_handlers": set(),
    "spelled_out": set(),  # names as harmless text
    "frameworks": set(),  # facts and words, for both sides
    "model": set(),
    "typed": set(),  # names of `typing` that cost nothing
    "store.file_names": set(),
    "store.format": {"store.file_names"},
    "store.small_json": set(),
    "clock": {"errors", "model", "store.format"},
    "native": {"store.format"},
    "store.plain_files": {"signal_handlers"},
    "store.writer": {
        "native", "store.file_names", "store.plain_files", "store.small_json", "signal_handlers",
    },
    "store.local_folder": {"store.format", "store.plain_files"},
    "launch": {
        "store.format", "store.local_folder", "store.plain_files", "errors", "frameworks",
    },
    "record": {
        "native", "store.file_names", "store.format", "store.writer", "store.local_folder",
        "store.plain_files", "store.small_json", "launch", "signal_handlers", "errors",
    },
    "store": {"store.format", "store.plain_files", "clock", "model", "errors"},
    "importers": {"native", "store", "store.format", "clock", "model", "errors"},
    "analyze": {
        "importers", "store", "store.format", "store.local_folder", "store.plain_files", "clock",
        "model", "errors",
    },
    "advise": {"analyze", "store", "store.format", "clock", "model", "errors", "frameworks"},
    "compare": {"advise", "analyze", "store", "store.format", "clock", "model", "errors"},
    # The functions that views name as text are loaded when they are needed.
    "views": {"store", "model", "errors"},
    "trial": {
        "advise", "analyze", "clock", "compare", "errors", "launch", "model", "record", "store",
        "signal_handlers", "store.format", "store.local_folder", "store.plain_files",
    },
    "show": {"advise", "analyze", "compare", "store", "model", "errors", "views", "spelled_out"},
}  # fmt: skip
_OF_BOTH = ("file_names", "format", "local_folder", "plain_files", "small_json", "writer")
SHARED = {f"store.{name}" for name in _OF_BOTH}
FOR_ALL = {"typed"}
# These connect the parts, so they may import all of them.
ASSEMBLERS = {
    "", "__main__", "cli", "ipython", "keras", "lightning", "line_profiler", "profile",
    "run_object", "run_questions", "transformers",
}  # fmt: skip

# The rooms of a part, from the ground up: each may import those before it.
ROOMS: dict[str, tuple[str, ...]] = {
    "analyze": (
        "analyze",  # what all share
        "analyze.traces",
        "analyze.steps",
        "analyze.phases",
        "analyze.operators", "analyze.device",
        "analyze.code",
        "analyze.input",
        "analyze.ranks", "analyze.imported",
        "analyze.timeline",
        "analyze.answers",
    ),
    "importers": ("importers", "importers.kineto", "importers.xplane", "importers.tensorflow_json",
                  "importers.viztracer", "importers.pstats", "importers.lprof",
                  "importers.memory_snapshot", "importers.execution_trace"),
    "compare": ("compare.statistics", "compare"),
    "advise": ("advise.evidence", "advise.evidence.unchanging", "advise.gain", "advise.rules",
               "advise.rules.device", "advise.rules.host_trace", "advise"),
    "record": (
        "record.names", "record.code", "record.bytecode", "record.engines", "record.steps",
        "record.frameworks.watching", "record.frameworks.windows",
        "record.frameworks.torch", "record.frameworks.tensorflow", "record.frameworks.keras",
        "record.frameworks.jax", "record.frameworks.lightning", "record.frameworks.transformers",
        "record.frameworks.trackers",
        "record.frameworks",
        "record", "record.shim",
    ),
}  # fmt: skip
# The folders of the C core, from the ground up: a file may include the headers of its own folder
# and of those before it. What lies below calls what lies above through pointers that are set there.
NATIVE_ROOMS = (
    "python", "storage", "clock", "interpreter", "lines", "calls", "sampler", "hooks", "wrappers",
    "traces", "module",
)  # fmt: skip
FRAMEWORKS_BASE = ("record.frameworks.watching", "record.frameworks.windows")

# Fields that mean something different in each kind of event: `store.events` has names for it.
RAW_FIELDS = {"value0", "value1", "of_kind"}
# Where `show` gets what it draws: whole rooms, and answers that are made in others.
SHOWN_ROOMS = ("analyze.answers", "analyze.timeline")
SHOWN = {
    "advise.findings",
    "analyze.code.function_numbers",
    "analyze.code.functions",
    "analyze.code.hottest_lines",
    "analyze.code.line_samples",
    "analyze.code.lines",
    "analyze.code.sampled_threads",
    "analyze.code.source_texts",
    "analyze.code.stack_tree",
    "analyze.derived",
    "analyze.device.answer",
    "analyze.operators.kernels",
    "analyze.phases.stretches",
    "analyze.run",
    "analyze.traces.foreign",
    "compare.compare",
    "store.lprof",  # how such a file is written
}

RECORD_THIRD_PARTY = {"bytecode"}  # 3.11 only
FORBIDDEN_FOLDERS = {"utils", "util", "common", "helpers", "misc"}


@functools.cache
def modules() -> dict[str, Path]:
    """Dotted name below the package to its file; the package itself is the empty name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def part_of(module: str) -> str:
    return module if module in SHARED else module.partition(".")[0]


def imports_of(path: Path, module: str) -> Iterator[str]:
    """Absolute dotted names, wherever in the file they are imported."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                outer = ["stepscope", *filter(None, package.split("."))]
                kept = outer[: len(outer) - (node.level - 1)]
                base = ".".join([*kept, *filter(None, [base])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def ours_imported(path: Path, module: str, known: dict[str, Path]) -> set[str]:
    """Our modules that this file names in an import, as they are called in `modules`."""
    found = set()
    for name in imports_of(path, module):
        if name != "stepscope" and not name.startswith("stepscope."):
            continue
        inner = name.removeprefix("stepscope").removeprefix(".")
        while inner not in known and inner:  # a name inside a module: use the module
            inner = inner.rpartition(".")[0]
        found.add(inner)
    return found - {module}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    known = modules()
    assert len(known) > 10
    return {module: ours_imported(path, module, known) for module, path in known.items()}


def test_no_import_points_back(graph: dict[str, set[str]]) -> None:
    wrong = [
        f"{module or 'stepscope'} imports {imported or 'stepscope'}"
        for module, all_imported in graph.items()
        for imported in sorted(all_imported)
        if part_of(module) not in ASSEMBLERS
        and part_of(imported) != part_of(module)
        and part_of(imported) not in MAY_IMPORT[part_of(module)] | FOR_ALL
    ]
    assert not wrong


def test_every_part_of_the_package_has_its_place(graph: dict[str, set[str]]) -> None:
    parts = {part_of(module) for module in graph}
    assert parts <= MAY_IMPORT.keys() | ASSEMBLERS


def cycle_through(graph: dict[str, set[str]]) -> list[str] | None:
    """Repeatedly removes what imports nothing that is left; the rest is cyclic."""
    left = {module: set(imported) for module, imported in graph.items()}
    while free := [module for module, imported in left.items() if not imported & left.keys()]:
        for module in free:
            del left[module]
    return sorted(left) or None


def test_there_is_no_import_cycle(graph: dict[str, set[str]]) -> None:
    assert cycle_through(graph) is None


def folder_of(module: str) -> str:
    """A file beside the package's folders is its own part."""
    if modules()[module].name == "__init__.py":
        return module
    return module.rpartition(".")[0] or module


def folders(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, all_imported in graph.items():
        here = found.setdefault(folder_of(module), set())
        here |= {folder_of(imported) for imported in all_imported} - {folder_of(module)}
    return found


def test_there_is_no_cycle_between_folders(graph: dict[str, set[str]]) -> None:
    assert cycle_through(folders(graph)) is None


@pytest.mark.parametrize("part", ROOMS)
def test_rooms_import_only_rooms_below(graph: dict[str, set[str]], part: str) -> None:
    order = ROOMS[part]
    found = {name: seen for name, seen in folders(graph).items() if part_of(name) == part}
    assert found.keys() <= set(order), "a room that is not in the order"
    wrong = [
        f"{room} imports {imported}"
        for room, all_imported in found.items()
        for imported in sorted(all_imported)
        if imported in order and order.index(imported) > order.index(room)
    ]
    assert not wrong


def test_no_framework_imports_the_inside_of_another(graph: dict[str, set[str]]) -> None:
    """What a framework's folder offers to others is in its `__init__`."""
    base = "record.frameworks"
    wrong = [
        f"{module} imports {imported}"
        for module, all_imported in graph.items()
        for imported in sorted(all_imported)
        if module.startswith(f"{base}.")
        and imported.startswith(f"{base}.")
        and folder_of(imported) not in (folder_of(module), imported, *FRAMEWORKS_BASE)
    ]
    assert not wrong


def test_files_of_the_core_include_only_headers_below() -> None:
    native = PACKAGE / "native"
    wrong = [
        f"{file.relative_to(native)} includes {included}"
        for file in sorted(native.glob("*/*.[ch]"))
        for included in re.findall(r'#include "(\w+)/\w+\.h"', file.read_text())
        if included in NATIVE_ROOMS
        and NATIVE_ROOMS.index(included) > NATIVE_ROOMS.index(file.parent.name)
    ]
    assert not wrong
    assert {path.name for path in native.iterdir() if any(path.glob("*.c"))} <= set(NATIVE_ROOMS)


def test_show_draws_answers_and_makes_none(graph: dict[str, set[str]]) -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, all_imported in graph.items()
        if part_of(module) == "show"
        for imported in sorted(all_imported)
        if part_of(imported) not in ("show", "views", "model", "errors", "spelled_out")
        and imported not in SHOWN
        and not imported.startswith(SHOWN_ROOMS)
    ]
    assert not wrong


def test_show_does_not_calculate() -> None:
    wrong = [
        module
        for module, path in modules().items()
        if part_of(module) == "show"
        and any(name.partition(".")[0] == "numpy" for name in imports_of(path, module))
    ]
    assert not wrong


def test_formats_are_asked_through_their_importer(graph: dict[str, set[str]]) -> None:
    """Code that needs something from a trace asks `Importer` or `Trace`, not one format. Other
    formats that are Chrome's JSON too are read by the reader of torch's."""
    wrong = [
        f"{module} imports {imported}"
        for module, all_imported in graph.items()
        for imported in sorted(all_imported)
        if folder_of(imported).startswith("importers.")
        and folder_of(imported) != folder_of(module)
        and (folder_of(imported), part_of(module)) != ("importers.kineto", "importers")
    ]
    assert not wrong


def test_a_cycle_would_be_found() -> None:
    assert cycle_through({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}) == ["a", "b", "c"]


def test_the_recording_side_imports_only_the_standard_library() -> None:
    allowed = sys.stdlib_module_names | RECORD_THIRD_PARTY | {"stepscope"}
    wrong = [
        f"{module}: {name}"
        for module, path in modules().items()
        if part_of(module) in {"", "errors", "frameworks", "native", "launch", "record", *SHARED}
        for name in imports_of(path, module)
        if name.partition(".")[0] not in allowed
    ]
    assert not wrong


def test_the_recorded_process_never_needs_bytecode_to_import_us() -> None:
    """`bytecode` is imported inside functions, so that 3.12 and later do without it."""
    at_top = [
        module
        for module, path in modules().items()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom) and "bytecode" in ast.unparse(node)
    ]
    assert not [module for module in at_top if not module.startswith("record.")]


def test_only_the_store_knows_what_the_fields_of_an_event_mean() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} speaks of {field}"
        for module, path in modules().items()
        if not module.startswith("store")
        for field in sorted(RAW_FIELDS)
        if field in path.read_text()
    ]
    assert not wrong


def test_no_folder_is_named_after_nothing() -> None:
    folders = {path.parent.name for path in PACKAGE.rglob("*")}
    assert not folders & FORBIDDEN_FOLDERS
