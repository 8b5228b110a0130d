/* Functions: the id under which calls and samples name a Python or C function. */
#ifndef STEPSCOPE_FUNCTIONS_H
#define STEPSCOPE_FUNCTIONS_H

#include "python/code_notes.h"
#include "python/compat.h"

extern uint32_t functions_generation; /* ids of an earlier recording do not count */
extern __thread uint64_t functions_asking_ticks /* what on_function has taken this thread so far */
    __attribute__((tls_model("initial-exec")));

/* Ids of kind "function" in names.jsonl; 0 when it cannot be named (recording is off, or the hook
   failed). Hold the GIL. The first call for a function calls on_function; later ones are a
   look-up of a few ns. */
uint32_t function_of_code(PyObject *code);

/* Inline, for functions that are already known: 1 and the id. */
static inline int function_look_up(PyObject *code, uint32_t *id) {
    CodeNotes *notes = code_notes_of(code);
    if (UNLIKELY(!notes || notes->function >> 32 != functions_generation)) return 0;
    *id = (uint32_t)notes->function;
    return 1;
}
int function_is_known(PyObject *code); /* 1: function_of_code will not run any Python */
uint32_t function_of_builtin(PyObject *builtin); /* a PyCFunction */

/* The same for a function that is known by its method definition only, bound when first seen:
   `builtin` is a PyCFunction, or a method descriptor that is called on `self`. */
uint32_t function_of_method(PyMethodDef *method, PyObject *builtin, PyObject *self);

/* That PyCFunction: `builtin` itself, or the descriptor bound to `self`; a new reference, or NULL. */
PyObject *function_bound(PyObject *builtin, PyObject *self);

/* on_function(code or builtin) -> id; NULL: no recording. Borrows. Forgets all ids given before:
   a new recording has new names. */
void functions_hook(PyObject *on_function);
PyObject *functions_on(PyObject *self, PyObject *on_function); /* for Python; None: off */

#endif
