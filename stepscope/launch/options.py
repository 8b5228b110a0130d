"""What to record: the options of `stepscope run` as they are passed to the recorded process."""

from stepscope.typed import Any, Record


def is_ops(text: str) -> bool:
    """Whether it names steps: `10:20` (from 1 on, both included), `all`, `off` or `auto`."""
    first, colon, last = text.partition(":")
    if not colon:
        return text in ("auto", "all", "off")
    is_number = first.isdecimal() and last.isdecimal() and len(text) < 20
    return is_number and 1 <= int(first) <= int(last)


class RecordOptions(Record):
    exact: bool = False  # never thin out lines
    calls: bool = False  # record every call
    include: tuple[str, ...] = ()  # globs of files or module names that count as the user's
    exclude: tuple[str, ...] = ()
    steps: int | None = None  # stop the script cleanly after this many steps
    steps_for_s: float = 0.0  # but not before they have gone on for so long
    until_stable: bool = False  # stop the script cleanly once step times have settled
    stop_after_s: float | None = None  # stop recording then; the training continues
    stop_after_steps: int | None = None
    budget_share: float = 0.03
    max_bytes: int = 512 * 2**20
    ops: str = "auto"  # which steps' operators: "10:20", "all", "off"
    losses: bool = False  # keep the loss of every step
    log: bool = False  # add the results to the script's own run in an experiment tracker
    packages: tuple[str, ...] = ()  # folders of the package that owns the console command
    # What the steps are, as an earlier run found them: a loop, "train.py:31"; "": what is reported.
    step_loop: str | None = None
    # Only then is a loop that others follow taken for the step loop: without a framework nothing
    # else tells it from one that makes the data.
    guess_after_s: float = 3.0

    @property
    def limits_steps(self) -> bool:
        return bool(self.steps or self.until_stable or self.stop_after_steps)

    def to_json(self) -> dict[str, Any]:
        return self.fields()

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "RecordOptions":
        values = {key: value for key, value in fields.items() if key in cls.__annotations__}
        for key in ("include", "exclude", "packages"):
            values[key] = tuple(values.get(key, ()))
        if isinstance(values.get("ops"), bool):  # Profiler(ops=True)
            values["ops"] = "all" if values["ops"] else "off"
        return cls(**values)
