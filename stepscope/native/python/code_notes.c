/* Notes on code objects: a hash table, from which each is removed as the interpreter frees it. */
#include "python/code_notes.h"
#include "python/twins.h"

#include <stdlib.h>

enum { ROOM_AT_FIRST = 1024 };

static CodeNotes nothing; /* the table before its first entry */
CodeNotes *code_notes = &nothing;
size_t code_notes_mask;
static size_t used;

/* ---- going ------------------------------------------------------------------------------------------ */

/* Entries behind the gap move up, unless that would put them before their place. */
static void close_gap(size_t gap) {
    size_t mask = code_notes_mask;
    for (size_t at = (gap + 1) & mask; code_notes[at].code; at = (at + 1) & mask) {
        size_t home = code_notes_place(code_notes[at].code);
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        code_notes[gap] = code_notes[at];
        gap = at;
    }
    code_notes[gap] = (CodeNotes){0};
    used--;
}

/* What the caller frees once the code object is gone. */
static Twin *forget(PyObject *code) {
    CodeNotes *notes = code_notes_of(code);
    if (!notes) return NULL;
    Twin *twin = notes->twin;
    close_gap((size_t)(notes - code_notes));
    return twin;
}

#if HAS_MONITORING

static int on_event(PyCodeEvent event, PyCodeObject *code) {
    if (event == PY_CODE_EVENT_DESTROY) twin_free(forget((PyObject *)code));
    return 0;
}

/* Watchers belong to an interpreter: others, with a GIL of their own, never get here. */
static int watch(void) {
    static int watching;
    if (watching) return 0;
    if (PyCode_AddWatcher(on_event) < 0) {
        PyErr_Clear();
        return -1;
    }
    watching = 1;
    return 0;
}

#else

static destructor free_code; /* the interpreter's own */

static void free_noted(PyObject *code) {
    Twin *twin = forget(code);
    free_code(code);
    twin_free(twin);
}

static int watch(void) {
    if (free_code) return 0;
    free_code = PyCode_Type.tp_dealloc;
    PyCode_Type.tp_dealloc = free_noted;
    return 0;
}

#endif

/* ---- coming ----------------------------------------------------------------------------------------- */

static CodeNotes *free_place(const void *code) {
    size_t at = code_notes_place(code);
    while (code_notes[at].code) at = (at + 1) & code_notes_mask;
    return &code_notes[at];
}

static int grow(void) {
    CodeNotes *before = code_notes;
    size_t room = code_notes_mask + 1, wider = before == &nothing ? ROOM_AT_FIRST : 2 * room;
    CodeNotes *table = calloc(wider, sizeof *table);
    if (!table) return -1;
    code_notes = table;
    code_notes_mask = wider - 1;
    for (size_t i = 0; i < room; i++)
        if (before[i].code) *free_place(before[i].code) = before[i];
    if (before != &nothing) free(before);
    return 0;
}

CodeNotes *code_notes_for(PyObject *code) {
    CodeNotes *notes = code_notes_of(code);
    if (LIKELY(notes != NULL)) return notes;
    if (watch() || (2 * (used + 1) > code_notes_mask && grow())) return NULL;
    notes = free_place(code);
    notes->code = code;
    used++;
    return notes;
}
