"""Writes a run folder from files of other tools: each file as it is, beside what is known about the
process that it is of. What a later version reads better, it reads better there too."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from stepscope.analyze.traces.side_by_side import Reader, side_by_side
from stepscope.analyze.traces.surveys import rank_of
from stepscope.analyze.traces.traced_process import infos_of
from stepscope.errors import DataError, EnvironmentTrouble
from stepscope.importers.beside import files_beside
from stepscope.importers.importer import importer_of, is_beside
from stepscope.store import format as fmt
from stepscope.store.plain_files import make_folder, replace_plain, share_no_more
from stepscope.store.records import ProcessInfo, RunInfo


def keep_traces(
    files: Sequence[Path], make: Callable[[], str], read: Reader = side_by_side
) -> Path:
    """The folder that `make` makes, once it is known that there is something to keep."""
    adding = [file for file in files if is_beside(file)]
    traces = [file for file in files if file not in adding] or files
    infos = infos_of(traces, read)
    about = _json(_run_info(traces, [info for info, _ in infos]))
    folder = Path(make())
    try:
        replace_plain(folder / fmt.RUN_FILE, about)  # first: what is left half done is a run, too
        for number, (file, (info, _)) in enumerate(zip(traces, infos, strict=True)):
            kept = _keep(folder, number, file, info)
            _keep_beside(folder, kept, [*adding, *files_beside(file)], info)
    except OSError as error:
        raise EnvironmentTrouble(
            f"Cannot write '{folder}': {error.strerror}. Name another folder with -o."
        ) from error
    return folder


def _keep(run: Path, number: int, file: Path, info: ProcessInfo) -> Path:
    """Of files of the same process, each has a folder of its own."""
    name = f"proc-{info.rank or 0}-{info.host}-{info.pid}"
    folder = run / (name if not (run / name).exists() else f"{name}.{number}")
    make_folder(folder)
    kept = fmt.TRACE_FILE.format(ending=_ending(file))
    shutil.copyfile(file, folder / kept)
    share_no_more(run, file.stat().st_mode)
    replace_plain(folder / fmt.PROCESS_FILE, _json(msgspec.structs.replace(info, trace=kept)))
    return folder


def _keep_beside(run: Path, folder: Path, files: Sequence[Path], info: ProcessInfo) -> None:
    """What adds to this process's trace: it has its number, and the name of no other rank."""
    of_process = [file for file in dict.fromkeys(files) if _is_of(file, info)]
    for number, file in enumerate(of_process):
        kept = fmt.BESIDE_FILE.format(number=number, ending=_ending(file))
        shutil.copyfile(file, folder / kept)
        share_no_more(run, file.stat().st_mode)


def _is_of(file: Path, info: ProcessInfo) -> bool:
    try:
        pid = importer_of(file).lent_shapes(file).pid
    except DataError:
        return False
    return pid == info.pid and rank_of(file, {}) in (None, info.rank)


def _ending(file: Path) -> str:
    """As its importer knows it: the name decides the format there too."""
    importer = importer_of(file)
    named = [ending for ending in importer.endings if file.name.endswith(ending)]
    return max(named, key=len) if named else importer.endings[0]


def _run_info(files: Sequence[Path], infos: Sequence[ProcessInfo]) -> RunInfo:
    started = [each.started_realtime_ns for each in infos if each.started_realtime_ns]
    return RunInfo(
        format=fmt.FORMAT_VERSION,
        command=[],
        started_realtime_ns=min(started, default=None),
        imported_from=[_named(file) for file in files],
    )


def _named(file: Path) -> str:
    """In full; the bytes of a name that are no text are spelled out."""
    return os.fsencode(os.path.abspath(file)).decode("utf-8", "backslashreplace")


def _json(fields: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(fields), indent=1)
