"""docs/try.md lists every fix, in the order of the ladder, with what it promises."""

import re
from pathlib import Path

from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Fix

PAGE = Path(__file__).parents[2] / "docs" / "try.md"
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| .+ \| (.+) \|$", re.MULTILINE)
PROMISES = {
    "bits": "the same to the last bit",
    "rounding": "sums in another order",
    "precision": "fewer bits",
    "training": "another training",
}


def promise(fix: Fix) -> str:
    return "a ceiling: never kept" if fix.is_ceiling else PROMISES[fix.keeps]


def test_every_fix_is_listed_with_its_promise() -> None:
    listed = ROW.findall(PAGE.read_text())
    assert listed == [(fix.name, promise(fix)) for fix in fixes.every()]
