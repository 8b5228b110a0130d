"""Functions of the user's, replaced while the script runs, wherever the script holds them."""

import functools
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.trial.fixes.inside.user_functions import Place, replace
from trial.scripts import run_with

SKIP = "skip-callback"  # makes only the first call: easy to see from outside


class Model:
    def describe(self, width: int, *, depth: int = 3) -> str:
        """Uses its class, so it has a closure."""
        return f"{super().__str__()[-1]} {width}x{depth}"


def make_adder(offset: int) -> Any:
    def add(a: int, b: int = 2) -> int:
        return a + b + offset

    return add


def counted(calls: list[Any]) -> Callable[[Any], Any]:
    def wrap(function: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            calls.append((args, kwargs))
            return function(*args, **kwargs)

        return run

    return wrap


def test_the_function_stays_the_same_object_and_is_given_other_code() -> None:
    calls: list[Any] = []
    patches = Patches()
    add = make_adder(5)
    held_elsewhere: list[Any] = [add, functools.partial(add, 1)]
    replace(add, counted(calls), patches)
    assert [each(1) for each in held_elsewhere] == [8, 7]
    assert calls == [((1,), {}), ((1, 1), {})]
    assert str(inspect.signature(add)) == "(a: int, b: int = 2) -> int"


def test_methods_keep_super_keywords_and_their_signature() -> None:
    calls: list[Any] = []
    patches = Patches()
    describe: Any = Model.describe
    before = describe.__code__
    replace(describe, counted(calls), patches)
    assert Model().describe(7, depth=1) == "> 7x1"
    assert len(calls) == 1
    assert list(inspect.signature(Model().describe).parameters) == ["width", "depth"]
    patches.undo()
    assert describe.__code__ is before
    assert "__signature__" not in vars(describe)


def test_exceptions_pass_through() -> None:
    def fail() -> None:
        raise KeyError("mine")

    function: Any = fail
    replace(function, counted([]), Patches())
    with pytest.raises(KeyError, match="mine"):
        fail()


def test_two_fixes_of_one_function_are_one_around_the_other() -> None:
    inner: list[Any] = []
    outer: list[Any] = []
    patches = Patches()
    add = make_adder(0)
    replace(add, counted(inner), patches)
    replace(add, counted(outer), patches)
    assert add(1) == 3
    assert (len(inner), len(outer)) == (1, 1)
    patches.undo()
    assert add(1) == 3
    assert (len(inner), len(outer)) == (1, 1)


def test_a_place_is_known_in_a_copy_of_the_folder_too() -> None:
    code = make_adder.__code__
    here = Place("test_user_functions.py", "make_adder", code.co_firstlineno)
    assert here.has(code)
    assert not here._replace(first_line=1).has(code)
    assert not here._replace(file="train.py").has(code)


HOLDERS = {
    "a function of the main script": """
        def work(step):
            print("work", step)
        for step in range(4):
            work(step)
    """,
    "a method": """
        class Trainer:
            def work(self, step):
                print("work", step)
        trainer = Trainer()
        bound = trainer.work
        for step in range(4):
            bound(step)
    """,
    "a function inside a decorator's wrapper": """
        import contextlib
        @contextlib.contextmanager
        def around():
            yield
        @around()
        def work(step):
            print("work", step)
        def main():
            for step in range(4):
                work(step)
        main()
    """,
    "a function inside another one": """
        def main():
            label = "work"
            def work(step):
                print(label, step)
            for step in range(4):
                work(step)
        main()
    """,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_it_is_found_before_the_steps_begin(holder: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(HOLDERS[holder]))
    tried = run_with(
        script,
        fixes={SKIP: {"function": place_of_work(script), "every": None}},
        into=tmp_path / "r",
    )
    assert (tried.status, tried.stdout, tried.stderr) == (0, "work 0\n", "")
    assert tried.applied(SKIP) == "first call only"


def test_a_function_of_an_imported_module_is_found(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("def work(step):\n    print('work', step)\n")
    script = tmp_path / "train.py"
    script.write_text("from helpers import work\nfor step in range(4):\n    work(step)\n")
    settings = {"function": place_of_work(tmp_path / "helpers.py"), "every": None}
    tried = run_with(script, fixes={SKIP: settings}, into=tmp_path / "run")
    assert (tried.stdout, tried.applied(SKIP)) == ("work 0\n", "first call only")


def place_of_work(file: Path) -> dict[str, object]:
    """As Python itself names the function and its first line, decorators included."""
    found = [compile(file.read_text(), file.name, "exec")]
    for code in found:
        found += [each for each in code.co_consts if inspect.iscode(each)]
    code = next(each for each in found if each.co_name == "work")
    return {"file": file.name, "function": code.co_qualname, "first_line": code.co_firstlineno}
