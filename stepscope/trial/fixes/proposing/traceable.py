"""Whether a function does the same when a framework reads it once and then runs what it read.

Python runs only while tf.function or jax.jit reads the function. What it does beside computing with
tensors (printing, appending, drawing from NumPy) would happen once, and what it reads from outside
would stay as it was then.
"""

import ast
import re
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.trial.fixes.proposing.changing_values import changing_values, reads
from stepscope.trial.fixes.proposing.imports import modules_of, root_of
from stepscope.trial.fixes.proposing.named_function import NamedFunction
from stepscope.trial.fixes.proposing.reached import Reached, reached_from

_NEEDS_PYTHON: Final = (
    "numpy", "scipy", "pandas", "sklearn", "torch", "PIL", "cv2", "random", "secrets", "time",
    "datetime", "os", "sys", "shutil", "subprocess", "logging", "warnings", "json", "pickle", "csv",
    "io", "wandb", "mlflow", "tensorboardX", "tqdm",
)  # fmt: skip
_BUILTINS: Final = ("print", "open", "input", "exec", "eval", "next", "setattr", "delattr")
_VALUES: Final = ("numpy", "item", "tolist")  # methods
_NUMBERS: Final = ("float", "int", "bool")
_SIZES: Final = re.compile(r"\.shape\b|\.ndim\b|\blen\(|\.size\b")
# As a statement of their own: for a result that nobody takes they must change something.
_CHANGES: Final = (
    "add", "add_scalar", "append", "appendleft", "clear", "debug", "error", "extend", "info",
    "insert", "log", "pop", "popleft", "put", "remove", "reverse", "setdefault", "sort", "update",
    "warning", "write", "writelines",
)  # fmt: skip
_GENERATORS: Final = re.compile(r"\b_?(rng|random_state)\.\w+$")
_NEW: Final = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_MAKES_NEW: Final = ("list", "dict", "set", "defaultdict", "OrderedDict", "Counter", "deepcopy")


def why_not(case: Case, function: NamedFunction) -> str | None:
    """The reason with its line: "train.py:31 calls print"."""
    if not function.is_plain:
        return f"{function.at} is a generator or a coroutine"
    changing = changing_values(case)
    for each in reached_from(function, case.code.sources):
        found = _reason(each) or reads(each, changing)
        if found is not None:
            return found
    return None


def draws_in_graph(case: Case, function: NamedFunction) -> bool:
    """tf.random in a graph draws other numbers than outside of it."""
    for each in reached_from(function, case.code.sources):
        modules = modules_of(each.text)
        for node in ast.walk(each.node):
            if isinstance(node, ast.Call) and "tensorflow.random." in _dotted(node.func, modules):
                return True
    return False


def _reason(each: Reached) -> str | None:
    modules, made_here = modules_of(each.text), _made_here(each.node)
    for node in _in_order(each.node):
        words = _stores(node, made_here) or _calls(node, modules, made_here)
        if words is not None:
            return f"{each.file}:{getattr(node, 'lineno', each.node.lineno)} {words}"
    return None


def _in_order(node: ast.AST) -> list[ast.AST]:
    return sorted(ast.walk(node), key=lambda each: getattr(each, "lineno", 0))


def _stores(node: ast.AST, made_here: set[str]) -> str | None:
    if isinstance(node, ast.Global | ast.Nonlocal):
        return f"sets {', '.join(node.names)} outside of the function"
    is_stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    if isinstance(node, ast.Attribute) and is_stored:
        return f"sets {ast.unparse(node)}"
    if isinstance(node, ast.Subscript) and is_stored and root_of(node) not in made_here:
        return f"writes into {ast.unparse(node.value)}"
    return None


def _calls(node: ast.AST, modules: dict[str, str], made_here: set[str]) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if (
            isinstance(called, ast.Attribute)
            and called.attr in _CHANGES
            and root_of(called) not in made_here
        ):
            return f"calls {ast.unparse(called)}"
    if not isinstance(node, ast.Call):
        return None
    name = _dotted(node.func, modules)
    if name in _NUMBERS:
        is_value = bool(node.args) and not _is_known(node.args[0])
        return f"asks for a value: {ast.unparse(node)}" if is_value else None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _VALUES:
        return f"asks for a value: {ast.unparse(node)}"
    if _GENERATORS.search(name) or name in _BUILTINS or name.split(".")[0] in _NEEDS_PYTHON:
        return f"calls {ast.unparse(node.func)}"
    return None


def _is_known(value: ast.expr) -> bool:
    """A number that does not depend on tensors, as far as one can see: a size, or a constant."""
    return isinstance(value, ast.Constant) or _SIZES.search(ast.unparse(value)) is not None


def _dotted(called: ast.expr, modules: dict[str, str]) -> str:
    first, dot, rest = ast.unparse(called).partition(".")
    return modules.get(first, first) + dot + rest


def _made_here(function: ast.AST) -> set[str]:
    """Containers that the function makes itself, whatever it calls them."""
    new: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        (new if _is_new(node.value) else others).update(names)
    return new - others


def _is_new(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in _MAKES_NEW
    return isinstance(value, _NEW)
