"""docs/notebooks.md, followed as written: its cells run, and show what the page says."""

import re
from pathlib import Path
from typing import Any

import pytest

from ipython.shells import RunCell

PAGE = Path(__file__).parents[2] / "docs" / "notebooks.md"
Output = pytest.CaptureFixture[str]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def typed() -> list[str]:
    """The cells, and what stands behind `In [4]:` in the sessions."""
    found = blocks("python")
    for session in blocks("text"):
        if entered := re.match(r"In \[\d+\]: (.*?)\n\n", session, re.DOTALL):
            found.append(re.sub(r"\n +\.\.\.: ", "\n", entered[1]))
    return found


@pytest.mark.nightly
def test_every_cell_of_the_page_runs_in_its_order(
    shell: Any, cell: RunCell, capsys: Output
) -> None:
    shell.reset(new_session=False)
    shell.run_cell("import stepscope", store_history=True)
    cells = typed()
    assert len(cells) == 4
    printed = []
    for text in cells:
        assert cell(text).success, text
        printed.append(" ".join(capsys.readouterr().out.split()))  # however wide the page is
    assert re.search(r"Python loop in normalise \(In\[\d+\]:11\)", printed[1])
    assert re.search(r"from the loop at In\[\d+\]:3", printed[1])
    assert "Steps 1,000 steps" in printed[1]
    assert "Function: normalise at line 10" in printed[2]
    assert re.search(r"Spread\(mean=.*function='normalise'", printed[3], re.DOTALL)


def test_every_option_of_stepline_is_on_the_page(shell: Any) -> None:
    from stepscope.ipython.counted import _READER

    options = [each for each in _READER.params if each.param_type_name == "option"]
    assert len(options) == 9
    text, help_text = PAGE.read_text(), shell.find_line_magic("stepline").__doc__
    for option in options:
        assert all(f"`{name}" in text for name in option.opts)
        assert all(name in help_text for name in option.opts)
