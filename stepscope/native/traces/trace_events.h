/* The events of a trace in JSON as rows of numbers: 780 MB of text a second, where Python reads 135
   (docs/decisions/0005-traces-are-read-in-c.md). */
#ifndef STEPSCOPE_TRACE_EVENTS_H
#define STEPSCOPE_TRACE_EVENTS_H

#include "python/compat.h"

/* One event; importers/kineto/rows.py has the same fields. Texts are numbers in the list beside the
   rows. -1: not given. */
typedef struct {
    double ts_us, dur_us;
    int64_t external, correlation, sequence, stream, device, copied_bytes;
    int64_t bytes, device_type, address; /* of an allocation */
    int64_t id;                          /* of a flow */
    int32_t name, category;
    int32_t thread;    /* process and thread, as in the text: 7,"stream 7" */
    int32_t shapes;    /* dims, types and concrete inputs, with zero bytes between them */
    int32_t args_name; /* in the arguments */
    uint8_t phase;     /* a single letter; 0: something else */
    uint8_t unused[3];
} TraceRow;

/* (text) -> (rows, texts, number of bytes read): up to the first event that is not as torch
   writes it. */
PyObject *trace_events(PyObject *self, PyObject *text);

#endif
