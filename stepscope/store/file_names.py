"""What the files of a run folder are called; `format.py` says what is in them. Every recorded
process needs these names, and few of the enumerations there."""

from stepscope.typed import Final

FORMAT_VERSION: Final = 1

RUN_FILE: Final = "run.json"
SUPERVISOR_FILE: Final = "supervisor.json"
SYSTEM_FILE: Final = "system.jsonl"
MEASURED_FILE: Final = "measured.json"
NOTES_FILE: Final = "notes.jsonl"
SOURCES_FOLDER: Final = "sources"
PROCESS_FILE: Final = "process.json"
NAMES_FILE: Final = "names.jsonl"
EVENTS_FILE: Final = "events.bin"
LINES_FILE: Final = "lines.bin"
CALLS_FILE: Final = "calls.bin"
SAMPLES_FILE: Final = "samples.bin"
TRACKERS_FILE: Final = "trackers.jsonl"
OPS_FILE: Final = "ops-{number}.{ending}"
TRACE_FILE: Final = "trace{ending}"
BESIDE_FILE: Final = "beside-trace-{number}{ending}"  # what adds to it
TABLES_FOLDER: Final = "tables"
