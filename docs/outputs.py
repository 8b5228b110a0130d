"""Makes what the pages show of real runs: what commands print, pictures of reports, figures.

A page says what belongs where in comments, and this script replaces what follows each:

    <!-- output of: COMMAND -->        a block of text, or of console with the command above it
    <!-- file: PATH -->                a block with that file
    <!-- picture of: RUN PAGE -->      an image: that page of the run's report
    <!-- figures of: RUN RUN ... -->   a table with a row per run
    <!-- machine -->                   a paragraph: when, where, with what, and how busy it was

`; from: WORDS` and `; to: WORDS` keep a part of the output: from the first line that begins so, to
the line before that. `; status: 1` expects a command to fail. Each page has a folder of its own,
with the examples in it, and its commands run there in their order.
"""

import argparse
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import picture  # noqa: E402

from benchmarks import machine  # noqa: E402

# Of real devices, named after what is in them. They are too large for the repository.
TRACES = Path(os.environ.get("GPU_TRACES", ROOT.parent / "shared" / "traces"))
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
)
WIDTH = 88
MARK = re.compile(
    r"(?P<mark><!-- (?P<kind>output of|file|picture of|figures of|machine)"
    r"(?:: (?P<what>[^>]+?))? -->\n)"
    r"(?P<old>```(?P<fence>\w+)\n.*?```\n|!\[[^\n]*\n|(?:\|[^\n]*\n)+|[^\n]*\n)",
    re.DOTALL,
)
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # imports would take longer than they do for others
# What frameworks log on their own account says nothing about the example.
NOISE = re.compile(
    r"[WEI]\d{4} |WARNING: All log|\d{4}-\d\d-\d\d .*tensorflow|.*site-packages/|USDT:|💡"
    r"|[GT]PU available"
)
QUIET = {
    "COLUMNS": str(WIDTH),
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "PYTHONWARNINGS": "ignore",
    "CUDA_VISIBLE_DEVICES": "-1",
    "OMP_NUM_THREADS": "1",  # with more, a busy machine slows the steps down by a factor
}


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a page, and which part of its output the page shows."""

    line: str
    start: str = ""
    end: str = ""
    status: int = 0

    @property
    def needs_traces(self) -> bool:
        return " gpu-traces" in self.line


def parsed(what: str) -> Command:
    line, *options = (part.strip() for part in what.split("; "))
    given = dict(option.split(": ", 1) for option in options)
    return Command(line, given.get("from", ""), given.get("to", ""), int(given.get("status", 0)))


def commands_of(page: Path) -> Iterator[Command]:
    """Those whose output the page shows, in their order."""
    for match in MARK.finditer(page.read_text()):
        if match["kind"] == "output of":
            yield parsed(match["what"])


def workshop(folder: Path) -> None:
    """The examples, with their data, as a person would have them."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__py*"))
    if TRACES.exists():
        (folder / "gpu-traces").symlink_to(TRACES)


def environment() -> dict[str, str]:
    """What is installed beside this Python goes first."""
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join((beside, os.environ.get("PATH", os.defpath)))
    kept = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    return {**kept, **QUIET, "PATH": path}


def run(command: Command, folder: Path) -> str:
    """Everything it prints, without the frameworks' own log."""
    words = shlex.split(command.line)
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != (command.status or words[0] == "diff"):
        sys.exit(f"{command.line}\nended with {done.returncode}:\n{done.stdout}")
    text = done.stdout.replace(f"{folder}/", "")
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines if not NOISE.match(line))


def part_of(output: str, command: Command) -> str:
    """From one line to another, with an ellipsis where something is left out."""
    lines = output.splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith(command.start)), None)
    if begin is None:
        sys.exit(f"{command.line}\nno line begins with {command.start!r}:\n{output}")
    later = range(begin + 1, len(lines)) if command.end else ()
    end = next((n for n in later if lines[n].lstrip().startswith(command.end)), len(lines))
    if command.end and end == len(lines):
        print(f"{command.line}\nno line begins with {command.end!r}", file=sys.stderr)
    kept = "\n".join(lines[begin:end]).strip("\n").splitlines()
    before, after = ["…"] * (begin > 0), ["…"] * (end < len(lines))
    return "".join(f"{line}\n" for line in (*before, *kept, *after))


def fenced(match: re.Match[str], folder: Path) -> str:
    command = parsed(match["what"])
    if command.needs_traces and not TRACES.exists():
        return match["old"]  # what somebody with the traces made stays
    printed = run(command, folder)
    output = changes(printed) if match["fence"] == "diff" else part_of(printed, command)
    prompt = f"$ {command.line}\n" if match["fence"] == "console" else ""
    return f"```{match['fence']}\n{prompt}{output}```\n"


def changes(diff: str) -> str:
    """Without its head, and without the sentence at the top of a script, which differs anyway."""
    return "@@" + diff.split("\n@@", 2)[2]


def pictured(match: re.Match[str], page: Path, folder: Path) -> str:
    run_name, report_page = match["what"].split()
    target = re.search(r"\(([^)]+)\)", match["old"])
    assert target is not None, match["old"]
    file = page.parent / target[1]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(picture.small_png(folder / run_name / "report.html", report_page, folder))
    return match["old"]


def figures(match: re.Match[str], folder: Path) -> str:
    rows = [figure_row(folder, name) for name in match["what"].split()]
    head = "| run | mean step | images a second | most of each step |\n|---|---:|---:|---|\n"
    return head + "".join(rows)


def figure_row(folder: Path, name: str) -> str:
    steps = json.loads(run(Command(f"stepscope show {name} steps --json"), folder))
    parts = sorted(steps["breakdown"], key=lambda part: -part["share"])[:2]
    most = ", ".join(f"{part['category']} {100 * part['share']:.0f} %" for part in parts)
    samples = steps["rate"]["samples_per_s"]
    rate = f"{samples:,.0f}" if samples else "–"
    return f"| `{Path(name).name}` | {steps['step_ms']['mean']:.1f} ms | {rate} | {most} |\n"


def whole_file(match: re.Match[str]) -> str:
    return f"```{match['fence']}\n{(ROOT / match['what']).read_text()}```\n"


class Others:
    """How much of the machine other programs take, from now on."""

    def __init__(self) -> None:
        self._before = self._now()

    def share(self) -> float:
        busy_s, ours_s, time_s = (
            now - before for now, before in zip(self._now(), self._before, strict=True)
        )
        return max(busy_s - ours_s, 0.0) / (time_s * (os.cpu_count() or 1))

    def _now(self) -> tuple[float, float, float]:
        """CPU seconds of the whole machine, those of ours, and the time of day."""
        fields = Path("/proc/stat").read_text().split(maxsplit=8)[1:8]
        user, nice, system, _idle, _iowait, *interrupts = map(int, fields)
        busy_s = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
        return busy_s, sum(os.times()[:4]), time.monotonic()


def machine_words(others_share: float) -> str:
    about = machine.describe()
    versions = ", ".join(
        f"{name} {version}"
        for name in ("torch", "tensorflow-cpu", "lightning", "numpy")
        if (version := machine.version_of(name))
    )
    return (
        f"The output is from {about['date']}: {about['processor']}, {about['cores']} cores, of "
        f"which other programs used {100 * others_share:.0f} %, no GPU; one compute thread for "
        f"torch and NumPy (`OMP_NUM_THREADS=1`); {about['system']}, Python {about['python']}, "
        f"{versions}.\n"
    )


def filled(page: Path, folder: Path) -> str:
    """The page with everything made anew."""
    others = Others()

    def replaced(match: re.Match[str]) -> str:
        made = {
            "output of": lambda: fenced(match, folder),
            "file": lambda: whole_file(match),
            "picture of": lambda: pictured(match, page, folder),
            "figures of": lambda: figures(match, folder),
            "machine": lambda: match["old"],
        }[match["kind"]]
        return match["mark"] + made()

    text = MARK.sub(replaced, page.read_text())
    words = machine_words(others.share())
    return MARK.sub(
        lambda match: match["mark"] + (words if match["kind"] == "machine" else match["old"]), text
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="only these; otherwise all")
    parser.add_argument("--print", action="store_true", help="print them, and change no page")
    arguments = parser.parse_args()
    for page in arguments.pages or PAGES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "work"
            workshop(folder)
            text = filled(page.resolve(), folder)
        if arguments.print:
            print(text)
        else:
            page.write_text(text)
            print(f"wrote {page}", flush=True)


if __name__ == "__main__":
    main()
