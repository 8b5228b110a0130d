"""The scripts of the zoo, and what each of them says about itself in its line `ZOO = {...}`."""

import ast
import importlib.util
from pathlib import Path

import msgspec

ZOO = Path(__file__).parent
KNOWN, HELD_OUT = "scripts", "held_out"  # those that rules are made with, and the blind test
NOT_SCRIPTS = {"step_clock", "timing"}


class Specimen(msgspec.Struct, frozen=True):
    """A script: its fault (None: it is healthy), where that is, and what it needs."""

    name: str
    id: str | None
    function: list[str]  # any of them is right; none: no single function is at fault
    framework: str
    folder: str = KNOWN
    also: list[str] = []  # what would be as right a diagnosis

    @property
    def ids(self) -> list[str]:
        return [self.id, *self.also] if self.id else []

    @property
    def path(self) -> Path:
        return ZOO / self.folder / f"{self.name}.py"

    @property
    def can_run(self) -> bool:
        return importlib.util.find_spec(self.framework) is not None


def described(path: Path) -> Specimen:
    """Parsed, not imported: the description does not need the framework."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ZOO":
            declared = ast.literal_eval(node.value)
            function = declared["function"] or []
            functions = [function] if isinstance(function, str) else function
            needed = declared["framework"]
            also = declared.get("also", [])
            return Specimen(path.stem, declared["id"], functions, needed, path.parent.name, also)
    raise ValueError(f"{path} has no line 'ZOO = {{...}}': it must say which fault the script has.")


def specimens(names: list[str], folder: str = KNOWN) -> list[Specimen]:
    """Those of the folder with these names, or all."""
    paths = {path.stem: path for path in sorted((ZOO / folder).glob("*.py"))}
    for name in NOT_SCRIPTS:
        paths.pop(name, None)
    unknown = [name for name in names if name not in paths]
    if unknown:
        raise ValueError(f"No script {', '.join(unknown)} in {ZOO / folder}.")
    return [described(paths[name]) for name in names or paths]
