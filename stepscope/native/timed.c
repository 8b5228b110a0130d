/* A function with a span around each of its calls. */
#include "timed.h"
#include "clock.h"
#include "events.h"
#include "module.h"
#include "wrapper.h"

typedef struct {
    Wrapper wrapper;
    unsigned int name, category;
    int is_outermost;
} Timed;

/* This thread is inside a call of one that is only to be timed where it is the outermost. */
static __thread int is_inside;

static PyObject *keywords_of(PyObject *const *values, PyObject *names) {
    PyObject *keywords = PyDict_New();
    Py_ssize_t count = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; keywords && i < count; i++)
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), values[i])) Py_CLEAR(keywords);
    return keywords;
}

/* The span that Python made of the call's arguments; -1 with an exception set. */
static int span_of(Timed *timed, PyObject *const *args, Py_ssize_t count, PyObject *names, uint64_t *span) {
    PyObject *values = PyTuple_New(count), *keywords = keywords_of(args + count, names), *made = NULL;
    for (Py_ssize_t i = 0; values && i < count; i++) PyTuple_SET_ITEM(values, i, Py_NewRef(args[i]));
    if (values && keywords)
        made = PyObject_CallFunctionObjArgs(timed->wrapper.ask, values, keywords, NULL);
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    *span = made ? PyLong_AsUnsignedLongLongMask(made) : 0;
    Py_XDECREF(made);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *timed_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    Timed *timed = (Timed *)self;
    if (timed->wrapper.is_stopped || (timed->is_outermost && is_inside))
        return PyObject_Vectorcall(timed->wrapper.function, args, count, names);
    uint64_t span = 0;
    if (!timed->wrapper.ask) span = event_span_begin(timed->name, timed->category);
    else if (span_of(timed, args, PyVectorcall_NARGS(count), names, &span)) return NULL;
    if (timed->is_outermost) is_inside = 1;
    PyObject *result = PyObject_Vectorcall(timed->wrapper.function, args, count, names);
    if (timed->is_outermost) is_inside = 0;
    if (span) event_span_end(span, ticks_now());
    return result;
}

static PyObject *timed_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"function", "name", "category", "begin", "outermost", NULL};
    PyObject *function, *begin = NULL;
    unsigned int name = 0, category = 0;
    int outermost = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$IIOp", names, &function, &name, &category,
                                     &begin, &outermost))
        return NULL;
    Timed *timed = (Timed *)wrapper_new(type, function, begin, timed_call);
    if (timed) timed->name = name, timed->category = category, timed->is_outermost = outermost;
    return (PyObject *)timed;
}

static PyTypeObject timed_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native._core.Timed",
    .tp_basicsize = sizeof(Timed),
    .tp_new = timed_new,
};

/* ---- the same state for a wrapper in Python ----------------------------------------------------------- */

static PyObject *py_outermost_begins(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (is_inside) Py_RETURN_FALSE;
    is_inside = 1;
    Py_RETURN_TRUE;
}

static PyObject *py_outermost_ends(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    is_inside = 0;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    NOARGS("outermost_begins", py_outermost_begins),
    NOARGS("outermost_ends", py_outermost_ends),
    {NULL, NULL, 0, NULL},
};

int timed_ready(PyObject *module) {
    return PyModule_AddFunctions(module, functions) || wrapper_ready(&timed_type, module) ? -1 : 0;
}
