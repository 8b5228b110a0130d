/* 3.11: code with ticks looks to everybody like the code that it was made from, its twin.

   It stays the object that functions and frames have, so `is` says what it says without us. What
   Python reads of it (its bytes, constants and tables, its hash, where a frame or a traceback is)
   and what is made of it (`replace`) are the twin's. The interpreter itself goes on reading the
   code that it runs. */
#ifndef STEPSCOPE_TWINS_H
#define STEPSCOPE_TWINS_H

#include "python/code_notes.h"

struct Twin {
    PyObject *plain;  /* owned: the code without ticks */
    PyObject *consts; /* owned: its constants, with the nested code that runs */
    PyObject *places; /* owned: where its instructions are; see places.h */
    PyObject *bare;   /* owned: the unit where a copy without ticks begins, and more: lines/bare.h */
    int in_copy;      /* the line engine's: frames may run the copy */
};

/* From now on `ticked` looks like `plain`. -1 with an exception set. */
int twin_set(PyObject *ticked, PyObject *plain, PyObject *places, PyObject *bare);
void twin_free(Twin *twin); /* may be NULL */

static inline Twin *twin_of(PyObject *code) {
    CodeNotes *notes = code_notes_of(code);
    return notes ? notes->twin : NULL;
}

/* co_lines() of the code that runs, ticks included; NULL with an exception set. */
PyObject *code_lines(PyObject *code);

/* The code without ticks, borrowed. */
static inline PyObject *twin_plain(PyObject *code) {
    Twin *twin = twin_of(code);
    return twin ? twin->plain : code;
}

#endif
