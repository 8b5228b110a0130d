/* Events and spans, as Python calls them. */
#include "module.h"
#include "clock.h"
#include "events.h"
#include "prints.h"

static PyObject *py_event(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)self;
    static char *names[] = {"kind", "name", "start", "end", "extra", "value0", "value1", NULL};
    unsigned int kind, name = 0, extra = 0;
    unsigned long long start = 0, end = 0, value0 = 0, value1 = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "I|IKKIKK", names, &kind, &name, &start, &end,
                                     &extra, &value0, &value1))
        return NULL;
    if (kind == 0 || kind > 0xff) return PyErr_Format(PyExc_ValueError, "no event of kind %u", kind);
    Event fields = {.name = name, .start = start ? start : ticks_now(), .end = end, .extra = extra,
                    .value0 = value0, .value1 = value1};
    return PyLong_FromUnsignedLongLong(event_add(kind, fields));
}

static PyObject *py_span_begin(PyObject *self, PyObject *args) {
    (void)self;
    Event span = {.start = ticks_now()};
    unsigned long long value0 = 0, value1 = 0, start = 0;
    if (!PyArg_ParseTuple(args, "II|KKK", &span.name, &span.extra, &value0, &value1, &start))
        return NULL;
    if (start) span.start = start;
    span.value0 = value0;
    span.value1 = value1;
    return PyLong_FromUnsignedLongLong(event_add(EVENT_SPAN, span));
}

static PyObject *py_span_end(PyObject *self, PyObject *args) {
    (void)self;
    uint64_t now = ticks_now();
    unsigned long long offset, value0 = 0;
    if (!PyArg_ParseTuple(args, "K|K", &offset, &value0)) return NULL;
    Event *span = event_span_at(offset);
    if (span && value0) span->value0 = value0;
    if (span) span->end = now;
    Py_RETURN_NONE;
}

static PyObject *py_span_drop(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long offset;
    if (!PyArg_ParseTuple(args, "K", &offset)) return NULL;
    Event *span = event_span_at(offset);
    if (span) span->end = span->start;
    Py_RETURN_NONE;
}

static PyObject *py_span_rename(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long offset;
    unsigned int name;
    if (!PyArg_ParseTuple(args, "KI", &offset, &name)) return NULL;
    Event *span = event_span_at(offset);
    if (span) span->name = name;
    Py_RETURN_NONE;
}

static PyObject *py_prints_start(PyObject *self, PyObject *name) {
    (void)self;
    unsigned long id = PyLong_AsUnsignedLong(name);
    if (PyErr_Occurred() || prints_start((uint32_t)id)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_prints_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (prints_stop()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_counters(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    event_clock();
    event_counters();
    Py_RETURN_NONE;
}

PyMethodDef event_functions[] = {
    KEYWORDS("event", py_event),
    ARGS("span_begin", py_span_begin),
    ARGS("span_end", py_span_end),
    ARGS("span_drop", py_span_drop),
    ARGS("span_rename", py_span_rename),
    ONE("prints_start", py_prints_start),
    NOARGS("prints_stop", py_prints_stop),
    NOARGS("counters", py_counters),
    {NULL, NULL, 0, NULL},
};
