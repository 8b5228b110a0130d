/* Hooks: where the native core calls Python, and where Python's own machinery calls us. */
#ifndef STEPSCOPE_HOOKS_H
#define STEPSCOPE_HOOKS_H

#include "python/compat.h"
#include "lines/lines.h"

/* Asks on_thread for the current thread's id; 0 if there is no recording. */
uint32_t hooks_thread_id(void);

/* The same for another thread, by Python's number and the kernel's, and whether Python started it;
   0 also when it has no name yet. */
uint32_t hooks_other_thread_id(unsigned long ident, unsigned long native, int is_pythons);

/* In a forked child: lets on_fork open new storage. -1: recording is off in this process. */
int hooks_open_after_fork(void);

/* Calls on_stamp for an iteration; PLACE_RAISE when it raised (to end the script cleanly). */
Place hooks_stamp(uint32_t loop_id, uint64_t now, uint32_t line_before);

/* Calls one of our Python functions untraced, with the user's exception state untouched; what it
   raises is dropped. Steals nothing; a new reference or NULL. */
PyObject *hooks_call(PyObject *function, PyObject *const *args, size_t count);

PyObject *hooks_start(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *hooks_stop(PyObject *self, PyObject *unused);
PyObject *hooks_on_stamp(PyObject *self, PyObject *callback);
PyObject *hooks_gc_callback(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* 3.11 (swap.c): run `replacement` when the interpreter is about to run `code`. */
void swap_arm(PyObject *code, PyObject *replacement);
void swap_disarm(void);

#endif
