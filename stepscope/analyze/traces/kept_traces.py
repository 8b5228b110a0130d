"""Writes a run folder from files of other tools: each file as it is, beside what is known about the
process that it is of. What a later version reads better, it reads better there too."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from stepscope.analyze.traces.side_by_side import Reader, side_by_side
from stepscope.analyze.traces.traced_process import infos_of
from stepscope.errors import EnvironmentTrouble
from stepscope.importers.importer import importer_of
from stepscope.store import format as fmt
from stepscope.store.plain_files import make_folder, replace_plain, share_no_more
from stepscope.store.records import ProcessInfo, RunInfo


def keep_traces(
    files: Sequence[Path], make: Callable[[], str], read: Reader = side_by_side
) -> Path:
    """The folder that `make` makes, once it is known that there is something to keep."""
    infos = infos_of(files, read)
    folder = Path(make())
    try:
        for number, (file, (info, _)) in enumerate(zip(files, infos, strict=True)):
            _keep(folder, number, file, info)
        _write(folder / fmt.RUN_FILE, _run_info(files, [info for info, _ in infos]))
    except OSError as error:
        raise EnvironmentTrouble(
            f"Cannot write '{folder}': {error.strerror}. Name another folder with -o."
        ) from error
    return folder


def _keep(run: Path, number: int, file: Path, info: ProcessInfo) -> None:
    """Of files of the same process, each has a folder of its own."""
    name = f"proc-{info.rank or 0}-{info.host}-{info.pid}"
    folder = run / (name if not (run / name).exists() else f"{name}.{number}")
    make_folder(folder)
    kept = fmt.TRACE_FILE.format(ending=_ending(file))
    shutil.copyfile(file, folder / kept)
    share_no_more(run, file.stat().st_mode)
    _write(folder / fmt.PROCESS_FILE, msgspec.structs.replace(info, trace=kept))


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
        imported_from=[os.path.abspath(file) for file in files],
    )


def _write(path: Path, fields: msgspec.Struct) -> None:
    replace_plain(path, msgspec.json.format(msgspec.json.encode(fields), indent=1))
