"""Writes stepscope/run_questions.py: a typed method of `stepscope.Run` for each view.

It is committed, so that editors can read it. `--check` writes nothing, and fails if the file does
not match the views.
"""

import importlib
import sys
from pathlib import Path
from typing import Any, Final

from stepscope.views import VIEWS
from stepscope.views.view import View

FILE: Final = Path(__file__).parents[2] / "stepscope" / "run_questions.py"
BASE: Final = "stepscope.model"
HEAD: Final = '''\
"""The questions of `stepscope.Run`: a method for each view, typed for editors.

Made from the views by tests/views/make_questions.py: change those and run it again.
"""

from typing import TYPE_CHECKING

{views}

if TYPE_CHECKING:
    from stepscope import model
{answers}
    from stepscope.store.reader import Run


class RunQuestions:
    """Each gives the record that `stepscope show RUN <question> --json` prints."""

    def __init__(self, run: "Run") -> None:
        self._run = run
'''
METHOD: Final = '''
    def {name}(self) -> "{answer}":
        """{description}"""
        return {record}.plain(self._run)
'''


def text() -> str:
    views = list(VIEWS.values())
    head = HEAD.format(views="\n".join(sorted(map(_view_import, views))), answers=_answers(views))
    return head + "".join(map(_method, views))


def _view_import(view: View[Any]) -> str:
    return f"from stepscope.views.{view.name} import {view.name.upper()}"


def _answers(views: list[View[Any]]) -> str:
    """The imports of those that are not in `model` itself."""
    names: dict[str, set[str]] = {}
    for view in views:
        names.setdefault(view.answer_type.__module__, set()).add(view.answer_type.__name__)
    return "\n".join(
        f"    from {module} import {', '.join(sorted(names[module]))}"
        for module in sorted(names.keys() - {BASE})
    )


def _method(view: View[Any]) -> str:
    answer = view.answer_type
    prefix = "model." if answer.__module__ == BASE else ""
    return METHOD.format(
        name=view.name,
        answer=prefix + answer.__name__,
        description=_description(view),
        record=view.name.upper(),
    )


def _description(view: View[Any]) -> str:
    """The sentence that the view's file opens with."""
    opening = importlib.import_module(f"stepscope.views.{view.name}").__doc__ or ""
    sentence = opening.removeprefix(f"`show {view.name}`: ")
    return sentence[:1].upper() + sentence[1:]


def main() -> int:
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text())
    elif FILE.read_text() != text():
        print("stepscope/run_questions.py does not match the views: run 'make types'.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
