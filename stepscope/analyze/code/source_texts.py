"""The text of the files in which lines were hit."""

from stepscope.analyze.run import shown_path
from stepscope.model import LinesAnswer
from stepscope.store.reader import Run


def source_texts(run: Run, answer: LinesAnswer) -> dict[str, list[str]]:
    """Path as shown to all lines of the file, for files with lines that were hit."""
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
