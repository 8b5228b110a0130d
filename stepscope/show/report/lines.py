"""The lines that were hit, as rows of numbers."""

from stepscope.model import LinesAnswer
from stepscope.show.report.shapes import FileLines


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
                 row.estimated, row.likely_hits)
                for row in each.lines
            ],
        )
        for each in answer.functions
    ]  # fmt: skip
