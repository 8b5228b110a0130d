"""What to record: the options of `stepscope run` as they travel to the recorded process."""

import json
from typing import Any, NamedTuple


class RecordOptions(NamedTuple):
    """A tuple and no dataclass: those take 10 ms to import, in every process that is recorded."""

    exact: bool = False  # never thin out lines
    calls: bool = False  # record every call
    include: tuple[str, ...] = ()  # globs of files or module names that count as the user's
    exclude: tuple[str, ...] = ()
    steps: int | None = None  # stop the script cleanly after that many steps
    until_stable: bool = False  # stop the script cleanly once step times have settled
    stop_after_s: float | None = None  # stop recording then; the training goes on
    stop_after_steps: int | None = None
    budget_share: float = 0.03
    max_bytes: int = 512 * 2**20
    packages: tuple[str, ...] = ()  # folders of the package that owns the console command

    def to_json(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "RecordOptions":
        values = {key: value for key, value in fields.items() if key in cls._fields}
        for key in ("include", "exclude", "packages"):
            values[key] = tuple(values.get(key, ()))
        return cls(**values)

    def dumps(self) -> str:
        return json.dumps(self.to_json())
