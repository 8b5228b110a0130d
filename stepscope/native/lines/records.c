/* Code records: which code objects are recorded, and where their counters are. */
#include "lines/lines.h"
#include "python/twins.h"
#include "storage/storage.h"

#include <stdlib.h>
#include <string.h>

CodeRecord *all_records;

/* One entry of co_lines(): (start, end, line or None), offsets in bytes. -1 with an exception set. */
static int note_lines(CodeRecord *record, PyObject *entry, Py_ssize_t units) {
    int start, end;
    PyObject *line;
    if (!PyArg_ParseTuple(entry, "iiO", &start, &end, &line)) return -1;
    long number = PyLong_Check(line) ? PyLong_AsLong(line) : -1;
    for (int i = start / 2; i < end / 2 && i < units; i++) record->line_at[i] = (int32_t)number;
    return 0;
}

/* In one pass: asking for each unit separately takes minutes for a function of 50,000 lines. */
static int find_lines(CodeRecord *record, PyObject *code, Py_ssize_t units) {
    PyObject *entry = NULL, *entries = code_lines(code);
    while (entries && (entry = PyIter_Next(entries))) {
        int failed = note_lines(record, entry, units);
        Py_DECREF(entry);
        if (failed) break;
    }
    Py_XDECREF(entries);
    return PyErr_Occurred() ? -1 : 0;
}

static int make_line_tables(CodeRecord *record, PyObject *code, Py_ssize_t units) {
    record->line_at = malloc((size_t)units * sizeof *record->line_at);
    record->resumed = calloc((size_t)units, sizeof *record->resumed);
    if (!record->line_at || !record->resumed) return -1;
    memset(record->line_at, -1, (size_t)units * sizeof *record->line_at);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int collected = PyGC_Disable(); /* finalizers would run here, while callers walk over frames */
    int failed = find_lines(record, code, units);
    if (collected) PyGC_Enable();
    PyErr_Restore(type, value, traceback); /* errors are dropped: those units have no line */
    return failed;
}

/* The line of every code unit, so that a resume costs one look-up. -1: no line there. */
int record_line_at(CodeRecord *record, PyObject *code, int byte_offset) {
    Py_ssize_t units = Py_SIZE(code);
    int unit = byte_offset / (int)sizeof(_Py_CODEUNIT);
    if (unit < 0 || unit >= units) return -1;
    if (!record->line_at && make_line_tables(record, code, units)) {
        free(record->line_at);
        free(record->resumed);
        record->line_at = NULL;
        record->resumed = NULL;
        return -1;
    }
    int line = record->line_at[unit];
    return line >= (int)record->first_line && line < (int)(record->first_line + record->count) ? line : -1;
}

/* A block in lines.bin with this record's flags. -1: no space. */
static int bind(CodeRecord *record) {
    size_t size = sizeof(Block) + record->count * sizeof(Line);
    Block *block = storage_is_open ? stream_take(&lines_stream, size) : NULL;
    record->block = block;
    record->lines = block ? (Line *)(block + 1) - record->first_line : NULL;
    if (!block) return -1;
    block->size = (uint32_t)size;
    block->id = record->id;
    block->first_line = record->first_line;
    block->count = record->count;
    block->flags = record->exact ? BLOCK_EXACT : 0;
    record->thinned = 0;
    record->seen_events = 0;
    for (int i = 0; i < record->loop_count; i++) {
        record->loops[i].off = 0;
        record->loops[i].stamps = 0;
        if (storage_is_kept()) record->lines[record->loops[i].line].hits = HITS_STAMPED;
    }
    __atomic_store_n(&block->tag, BLOCK_TAG | BLOCK_CODE, __ATOMIC_RELEASE);
    return 0;
}

/* -1 with an exception set. */
static int read_loops(CodeRecord *record, PyObject *loops) {
    Py_ssize_t count = PyTuple_GET_SIZE(loops);
    record->loops = PyMem_RawCalloc((size_t)count + 1, sizeof(Loop));
    if (!record->loops) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        unsigned int line, id;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(loops, i), "II", &line, &id)) return -1;
        if (line < record->first_line || line - record->first_line >= record->count) {
            PyErr_SetString(PyExc_ValueError, "a loop is outside its code's lines");
            return -1;
        }
        record->loops[record->loop_count++] = (Loop){.line = line, .id = id};
    }
    return 0;
}

static void record_free(CodeRecord *record) {
    Py_XDECREF(record->code);
    PyMem_RawFree(record->loops);
    PyMem_RawFree(record->carried);
    free(record->line_at);
    free(record->resumed);
    PyMem_RawFree(record);
}

int record_alias(PyObject *code, CodeRecord *record) {
    CodeNotes *notes = code_notes_for(code);
    if (notes) notes->record = record;
    else PyErr_SetString(PyExc_RuntimeError, "no room for notes on another code object");
    return notes ? 0 : -1;
}

/* 1 made, 0 no space, -1 with an exception set. */
int record_make(PyObject *code, uint32_t id, uint32_t first_line, uint32_t count,
                PyObject *loops, int exact) {
    CodeRecord *record = PyMem_RawCalloc(1, sizeof *record);
    if (!record) {
        PyErr_NoMemory();
        return -1;
    }
    record->code = Py_NewRef(code);
    record->id = id;
    record->first_line = first_line;
    record->count = count;
    record->exact = exact;
    record->carried = PyMem_RawCalloc(count, sizeof(Line));
    if (!record->carried || read_loops(record, loops)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        record_free(record);
        return -1;
    }
    if (bind(record)) {
        record_free(record);
        return 0;
    }
    if (record_alias(code, record)) {
        record_free(record);
        return -1;
    }
    record->next = all_records;
    all_records = record;
    return 1;
}

/* Code that was compiled again shares it. */
static void forget_everywhere(const CodeRecord *record) {
    for (size_t i = 0; i <= code_notes_mask; i++)
        if (code_notes[i].record == record) code_notes[i].record = NULL;
}

void record_forget(PyObject *code) {
    CodeRecord *record = record_of(code);
    for (CodeRecord **link = &all_records; record && *link; link = &(*link)->next) {
        if (*link != record) continue;
        *link = record->next;
        if (record->block) __atomic_store_n(&record->block->tag, BLOCK_TAG | BLOCK_FREE, __ATOMIC_RELEASE);
        forget_everywhere(record);
        record_free(record);
        return;
    }
}

void lines_carry(void) {
    for (CodeRecord *record = all_records; record; record = record->next) {
        if (!record->block) continue;
        Line *entries = record->lines + record->first_line;
        for (uint32_t i = 0; i < record->count; i++) {
            record->carried[i].hits += entries[i].hits & HITS_MASK;
            record->carried[i].ticks += entries[i].ticks;
            record->carried[i].sampled += entries[i].sampled;
        }
        record->block = NULL;
        record->lines = NULL;
    }
}

void lines_rebind(void) {
    lines_any_thinned = 0;
    threads_rebind();
    for (CodeRecord *record = all_records; record; record = record->next) bind(record);
}
