"""Names of `typing` without `typing`, and records."""

import subprocess
import sys

import pytest

from stepscope.typed import Record


class Place(Record):
    file: str
    line: int = 1


def test_a_record_has_its_fields_by_place_and_by_name() -> None:
    assert Place("a.py", 3).line == 3
    assert Place(file="a.py", line=3) == Place("a.py", 3)
    assert repr(Place("a.py")) == "Place(file='a.py', line=1)"
    assert hash(Place("a.py")) == hash(Place("a.py", 1))
    assert Place("a.py") != Place("b.py")


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", 1, 2), {}), (("a",), {"file": "b"}), (("a",), {"column": 1})],
)
def test_what_does_not_fit_is_refused(values: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="Place has the fields file, line"):
        Place(*values, **named)  # type: ignore[arg-type]


def test_the_names_cost_no_import_of_typing() -> None:
    code = "import stepscope.typed, sys; sys.exit('typing' in sys.modules)"
    assert subprocess.run([sys.executable, "-S", "-c", code], check=False).returncode == 0
