"""A real IPython shell in the process of the tests."""

import builtins
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import needs
from ipython.shells import WORK, RunCell


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One per test file: it leaves names in `builtins`, which are removed at the end."""
    needs.module("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    main, names = sys.modules["__main__"], set(vars(builtins))
    before = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = str(tmp_path_factory.mktemp("ipython"))
    config = needs.module("traitlets.config").Config()
    config.HistoryManager.enabled = False  # it would start a thread
    made = InteractiveShell.instance(config=config, colors="nocolor")
    made.run_line_magic("load_ext", "stepscope")
    yield made
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main
    for name in set(vars(builtins)) - names:
        delattr(builtins, name)
    os.environ.pop("IPYTHONDIR")
    if before is not None:
        os.environ["IPYTHONDIR"] = before


@pytest.fixture
def cell(shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunCell:
    """Runs a cell in an empty folder; there is a function `work`."""
    monkeypatch.chdir(tmp_path)
    shell.run_cell(WORK, store_history=True)
    return lambda text: shell.run_cell(text, store_history=True)
