/* Functions: the id under which calls and samples name a Python or C function. */
#ifndef STEPSCOPE_FUNCTIONS_H
#define STEPSCOPE_FUNCTIONS_H

#include "compat.h"

/* Ids of kind "function" in names.jsonl; 0 when it cannot be named (recording is off, or the hook
   failed). Hold the GIL. The first sight of a function calls on_function; later ones are a look-up
   of a few ns. */
uint32_t function_of_code(PyObject *code);
uint32_t function_of_builtin(PyObject *builtin); /* a PyCFunction */

/* on_function(code or builtin) -> id; NULL: nobody records. Borrows. Forgets all ids given before:
   a new recording has new names. */
void functions_hook(PyObject *on_function);

#endif
