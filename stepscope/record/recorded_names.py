"""Names in the run for the numbers of the native core: texts, threads, code, files."""

import os

from stepscope.record.code.code_table import CodeEntry
from stepscope.record.names import thread_names
from stepscope.store.writer import Names, keep_source


class RecordedNames(Names):
    """The names of one process's recording, each written once."""

    def __init__(self, run_folder: str, folder: str) -> None:
        super().__init__(folder)
        self._run_folder = run_folder
        self._name_ids: dict[str, int] = {}
        self._file_ids: dict[str, int] = {}
        self._noted: set[str] = set()

    def name(self, text: str) -> int:
        """Used several times per step, so there is a fast path."""
        number = self._name_ids.get(text, 0)
        if not number:
            number = self._name_ids[text] = self.intern("name", name=text)
        return number

    def name_thread(
        self, ident: int | None = None, native: int | None = None, is_pythons: bool = False
    ) -> int:
        return thread_names.name_thread(self, ident, native, is_pythons=is_pythons)

    def name_code(self, entry: CodeEntry) -> None:
        code = entry.code
        self.add(
            "code",
            entry.id,
            file=self._file_id(code.co_filename),
            function=code.co_qualname,
            first_line=entry.first_line,
            lines=entry.line_count,
            kind=entry.kind,
        )
        for loop, number in zip(entry.loops, entry.loop_ids, strict=False):
            parent = None if loop.parent is None else entry.loop_ids[loop.parent]
            self.add(
                "loop",
                number,
                code=entry.id,
                line=loop.line,
                last_line=loop.last_line,
                parent=parent,
            )

    def _file_id(self, filename: str) -> int:
        number = self._file_ids.get(filename)
        if number is None:
            path = os.path.abspath(filename) if filename[:1] != "<" else filename
            source = keep_source(self._run_folder, path)
            number = self._file_ids[filename] = self.add("file", path=path, source=source)
        return number

    def note_once(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self.note(text)
