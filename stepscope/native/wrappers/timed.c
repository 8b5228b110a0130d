/* A function with a span around each of its calls. */
#include "wrappers/timed.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "wrappers/wrapper.h"

typedef struct {
    Wrapper wrapper;
    unsigned int name, category;
} Timed;

static PyObject *timed_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    Timed *timed = (Timed *)self;
    uint64_t span = timed->wrapper.is_stopped ? 0 : event_span_begin(timed->name, timed->category);
    PyObject *result = PyObject_Vectorcall(timed->wrapper.function, args, count, names);
    if (span) event_span_end(span, ticks_now());
    return result;
}

static PyObject *timed_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"function", "name", "category", NULL};
    PyObject *function;
    unsigned int name, category;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OII", names, &function, &name, &category))
        return NULL;
    Timed *timed = (Timed *)wrapper_new(type, function, NULL, timed_call);
    if (timed) timed->name = name, timed->category = category;
    return (PyObject *)timed;
}

static PyTypeObject timed_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native._core.Timed",
    .tp_basicsize = sizeof(Timed),
    .tp_new = timed_new,
};

int timed_ready(PyObject *module) { return wrapper_ready(&timed_type, module); }
