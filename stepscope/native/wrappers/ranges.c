/* Ranges of a framework are recognized by the start of their names; Python decides on others. */
#include "wrappers/ranges.h"
#include "clock/clock.h"
#include "wrappers/wrapper.h"

enum { RANGES = 32 };

typedef struct {
    uint64_t opened, span; /* the first span inside, which gets the range's beginning and end */
} Range;

/* The open ranges of this thread, innermost last. */
static __thread Range ranges[RANGES];
static __thread int range_count;

static void opens(void) {
    if (range_count == RANGES) range_count = 0; /* never closed: recording ended in between */
    ranges[range_count++] = (Range){.opened = ticks_now()};
}

static void closes(void) {
    if (range_count && ranges[--range_count].span)
        event_span_end(ranges[range_count].span, ticks_now());
}

uint64_t range_span(Event span) {
    Range *range = range_count ? &ranges[range_count - 1] : NULL;
    if (!range || range->span) return event_add(EVENT_SPAN, span);
    span.start = range->opened;
    return range->span = event_add(EVENT_SPAN, span);
}

/* ---- the method that opens or closes one -------------------------------------------------------------- */

typedef struct {
    Wrapper wrapper; /* `more`: a tuple of prefixes of the framework's own names */
    int is_end;
} Edge;

static PyObject *name_attribute;

/* Whether the range is the framework's own; -1 with an exception set. */
static int is_known(Edge *edge, PyObject *range) {
    PyObject *name = PyObject_GetAttr(range, name_attribute), *beginnings = edge->wrapper.more;
    if (!name) PyErr_Clear(); /* the function itself gives the better error */
    Py_ssize_t known = 0, count = name && PyUnicode_Check(name) ? PyTuple_GET_SIZE(beginnings) : 0;
    for (Py_ssize_t i = 0; !known && i < count; i++)
        known = PyUnicode_Tailmatch(name, PyTuple_GET_ITEM(beginnings, i), 0, PY_SSIZE_T_MAX, -1);
    Py_XDECREF(name);
    return (int)known;
}

static PyObject *edge_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    Edge *edge = (Edge *)self;
    if (edge->wrapper.is_stopped || !PyVectorcall_NARGS(count))
        return PyObject_Vectorcall(edge->wrapper.function, args, count, names);
    int known = is_known(edge, args[0]);
    if (known < 0) return NULL;
    if (!known) {
        PyObject *nothing = PyObject_CallOneArg(edge->wrapper.ask, args[0]);
        if (!nothing) return NULL;
        Py_DECREF(nothing);
    }
    if (known && !edge->is_end) opens();
    PyObject *result = PyObject_Vectorcall(edge->wrapper.function, args, count, names);
    if (known && edge->is_end) closes();
    return result;
}

static PyObject *edge_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"function", "names", "other", "is_end", NULL};
    PyObject *function, *known, *other;
    int is_end = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!O|$p", names, &function, &PyTuple_Type, &known,
                                     &other, &is_end))
        return NULL;
    Edge *edge = (Edge *)wrapper_new(type, function, other, edge_call);
    if (edge) edge->wrapper.more = Py_NewRef(known), edge->is_end = is_end;
    return (PyObject *)edge;
}

static PyTypeObject edge_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native._core.Edge",
    .tp_basicsize = sizeof(Edge),
    .tp_new = edge_new,
};

int ranges_ready(PyObject *module) {
    name_attribute = PyUnicode_InternFromString("name");
    return name_attribute ? wrapper_ready(&edge_type, module) : -1;
}
