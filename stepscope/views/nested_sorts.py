"""How nested rows are sorted: actions and regions."""

from collections.abc import Mapping
from typing import Final

from stepscope.views.view import Key

NESTED_SORTS: Final[Mapping[str, Key]] = {
    "tree": lambda row: 0,
    "total": lambda row: -row.total_ns,
    "self": lambda row: -row.self_ns,
    "calls": lambda row: -row.calls,
    "name": lambda row: row.name,
}
