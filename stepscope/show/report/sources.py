"""The lines that were hit, and the text of the files they are in."""

from stepscope.analyze.run import shown_path
from stepscope.model import LinesAnswer
from stepscope.show.report.shapes import FileLines
from stepscope.store.reader import Run


def file_lines(answer: LinesAnswer) -> list[FileLines]:
    return [
        FileLines(
            file=each.file,
            function=each.function,
            first_line=each.first_line,
            process=each.process,
            total_ns=each.total_ns,
            calls=each.calls,
            rows=[
                (row.line, row.hits, row.ns, row.ops_ns, row.device_ns, row.alloc_bytes,
                 row.estimated)
                for row in each.lines
            ],
        )
        for each in answer.functions
    ]  # fmt: skip


def source_texts(run: Run, answer: LinesAnswer) -> dict[str, list[str]]:
    """Path as shown to all lines of the file, for files of which a line was hit."""
    wanted = {each.file for each in answer.functions}
    found: dict[str, list[str]] = {}
    for process in run.processes:
        for file in process.names.files.values():
            path = shown_path(run, file.path)
            if path in wanted and path not in found:
                text = run.source_lines(file.source)
                if text is not None:
                    found[path] = text
    return found
