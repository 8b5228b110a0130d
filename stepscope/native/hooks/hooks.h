/* Hooks: where Python's own machinery calls us. */
#ifndef STEPSCOPE_HOOKS_H
#define STEPSCOPE_HOOKS_H

#include "python/compat.h"
#include "lines/lines.h"

/* on_code's replacement for a code object that is not recorded yet, or NULL. New reference. */
PyObject *hooks_see_code(PyObject *code);

/* What `exec` is about to announce and on_code has seen already; borrowed. */
extern __thread const PyObject *hooks_seen_code __attribute__((tls_model("initial-exec")));

/* In a forked child: lets on_fork open new storage. -1: recording is off in this process. */
int hooks_open_after_fork(void);

PyObject *hooks_start(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *hooks_stop(PyObject *self, PyObject *unused);
PyObject *hooks_on_stamp(PyObject *self, PyObject *callback);
PyObject *hooks_stamp_always(PyObject *self, PyObject *loop_id);
PyObject *hooks_others_ran(PyObject *self, PyObject *unused);
PyObject *hooks_gc_callback(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* 3.11 (swap.c): run `replacement` when the interpreter is about to run `code`. */
void swap_arm(PyObject *code, PyObject *replacement);
void swap_disarm(void);

#endif
