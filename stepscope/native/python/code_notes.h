/* What we know about code objects, by their address.

   A slot of their own (co_extra) would be simpler. But as soon as one tool tags a code object, the
   interpreter calls the free functions of all tools for it, those that never saw it included. */
#ifndef STEPSCOPE_CODE_NOTES_H
#define STEPSCOPE_CODE_NOTES_H

#include "python/compat.h"

typedef struct Twin Twin; /* python/twins.h */

typedef struct {
    PyObject *code;    /* borrowed: its notes go when it is freed. NULL: a free place */
    void *record;      /* the line engine's; NULL: its lines are not counted */
    uint64_t function; /* generation << 32 | the number under which calls and samples name it */
    Twin *twin;        /* owned; 3.11: the code without ticks */
} CodeNotes;

extern CodeNotes *code_notes; /* open addressing; always with a free place */
extern size_t code_notes_mask;

static inline size_t code_notes_place(const void *code) {
    return (((uintptr_t)code >> 4) * 0x9E3779B97F4A7C15ull >> 32) & code_notes_mask;
}

/* NULL: nothing is known about it, so that it need not even be alive. Hold the GIL. */
static inline CodeNotes *code_notes_of(const void *code) {
    for (size_t at = code_notes_place(code); code_notes[at].code; at = (at + 1) & code_notes_mask)
        if (LIKELY(code_notes[at].code == code)) return &code_notes[at];
    return NULL;
}

/* The same, made if need be, valid until the next call; NULL: it cannot be made. Never an exception. */
CodeNotes *code_notes_for(PyObject *code);

#endif
