/* Instructions that may spend long in C: calls of C functions, and operators of objects that
   implement them in C, as arrays do. What the interpreter has specialised for its own numbers and
   containers, or for Python functions, is not among them. */
#ifndef STEPSCOPE_OPCODES_H
#define STEPSCOPE_OPCODES_H

#include "python/compat.h"

/* The opcode at this byte offset, also where a line event has replaced it. */
int opcode_at(PyObject *code, int offset);

/* Whether the instruction at this byte offset is one of them. */
int opcode_may_stay_in_c(PyObject *code, int offset);

/* Whether it is one of our own, of the line engine on 3.11. */
int opcode_is_tick(PyObject *code, int offset);

#endif
