/* The method that calls a module, with a span around the outermost call of each thread. */
#include "wrappers/forward.h"
#include "wrappers/batches.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "python/listener.h"
#include "python/methods.h"
#include "wrappers/wrapper.h"

typedef struct {
    Wrapper wrapper; /* `ask`: whether gradients are wanted; `more`: a class to the id of its name */
    unsigned int category;
} Forward;

static __thread int is_inside; /* a call that is timed */
static int are_modules_wanted; /* those called inside it, too: in operator windows */
static PyObject *on_forward;   /* called with a module before it runs */
static PyObject *training_name;

/* 1, 0, or -1 with an exception set. */
static int is_true(PyObject *value) {
    int truth = value ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    return truth;
}

static int is_training(PyObject *module) {
    int training = is_true(PyObject_GetAttr(module, training_name));
    if (training >= 0 || !PyErr_ExceptionMatches(PyExc_AttributeError)) return training;
    PyErr_Clear(); /* torch itself gives the better error */
    return 1;
}

/* -1 with an exception set. */
static int flags_of(Forward *forward, PyObject *module) {
    int has_grad = is_true(PyObject_CallNoArgs(forward->wrapper.ask));
    int training = has_grad < 0 ? -1 : is_training(module);
    if (training < 0) return -1;
    return (has_grad ? 0 : FORWARD_NO_GRAD) | (training ? 0 : FORWARD_EVALUATING);
}

/* 0 with an exception set. */
static uint32_t name_of(Forward *forward, PyObject *module) {
    PyObject *number = PyObject_GetItem(forward->wrapper.more, (PyObject *)Py_TYPE(module));
    if (!number) return 0;
    uint32_t name = (uint32_t)PyLong_AsUnsignedLongMask(number);
    Py_DECREF(number);
    return name;
}

/* The span, 0: not recorded; `*failed` is set with an exception. The arguments begin with the module. */
static uint64_t begin(Forward *forward, PyObject *const *args, Py_ssize_t count, PyObject *names,
                      int *failed) {
    PyObject *module = args[0];
    *failed = 1;
    if (listener_call(on_forward, module)) return 0;
    int flags = flags_of(forward, module);
    uint32_t name = flags < 0 ? 0 : name_of(forward, module);
    int has_batch = count > 1 || (names && PyTuple_GET_SIZE(names));
    long long samples = has_batch && !PyErr_Occurred() ? batch_samples(args[1]) : 0;
    if (PyErr_Occurred()) return 0;
    *failed = 0;
    return event_add(EVENT_SPAN, (Event){.name = name, .extra = forward->category, .start = ticks_now(),
                                         .value0 = samples > 0 ? (uint64_t)samples : 0,
                                         .value1 = (uint64_t)flags});
}

/* A module inside the outermost one. */
static PyObject *inner_call(Forward *forward, PyObject *const *args, size_t count, PyObject *names) {
    uint32_t name = name_of(forward, args[0]);
    if (PyErr_Occurred()) return NULL;
    uint64_t span = event_add(EVENT_SPAN, (Event){.name = name, .extra = SPAN_MODULE, .start = ticks_now()});
    PyObject *result = PyObject_Vectorcall(forward->wrapper.function, args, count, names);
    event_span_end(span, ticks_now());
    return result;
}

static PyObject *forward_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    Forward *forward = (Forward *)self;
    Py_ssize_t positional = PyVectorcall_NARGS(count);
    if (forward->wrapper.is_stopped || !positional || (is_inside && !are_modules_wanted))
        return PyObject_Vectorcall(forward->wrapper.function, args, count, names);
    if (is_inside) return inner_call(forward, args, count, names);
    int failed;
    uint64_t span = begin(forward, args, positional, names, &failed);
    if (failed) return NULL;
    is_inside = 1;
    PyObject *result = PyObject_Vectorcall(forward->wrapper.function, args, count, names);
    is_inside = 0;
    if (span) event_span_end(span, ticks_now());
    return result;
}

static PyObject *forward_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"function", "category", "is_grad_enabled", "names", NULL};
    PyObject *function, *is_grad_enabled, *class_names;
    unsigned int category;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OIOO", names, &function, &category,
                                     &is_grad_enabled, &class_names))
        return NULL;
    Forward *forward = (Forward *)wrapper_new(type, function, is_grad_enabled, forward_call);
    if (forward) forward->category = category, forward->wrapper.more = Py_NewRef(class_names);
    return (PyObject *)forward;
}

static PyTypeObject forward_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native._core.Forward",
    .tp_basicsize = sizeof(Forward),
    .tp_new = forward_new,
};

/* ---- the same for a method in Python ------------------------------------------------------------------- */

static PyObject *py_forward_begins(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                   PyObject *names) {
    (void)self;
    if (count < 2 || !Py_IS_TYPE(args[0], &forward_type)) {
        PyErr_SetString(PyExc_TypeError, "a Forward and what it is called with are needed");
        return NULL;
    }
    int failed = 0;
    Forward *forward = (Forward *)args[0];
    if (forward->wrapper.is_stopped || is_inside) Py_RETURN_NONE;
    uint64_t span = begin(forward, args + 1, count - 1, names, &failed);
    if (failed) return NULL;
    is_inside = 1;
    return PyLong_FromUnsignedLongLong(span);
}

static PyObject *py_forward_ends(PyObject *self, PyObject *span) {
    (void)self;
    uint64_t now = ticks_now();
    if (span == Py_None) Py_RETURN_NONE;
    is_inside = 0;
    event_span_end(PyLong_AsUnsignedLongLongMask(span), now);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_on_forward(PyObject *self, PyObject *listener) {
    (void)self;
    listener_set(&on_forward, listener);
    Py_RETURN_NONE;
}

static PyObject *py_forward_modules(PyObject *self, PyObject *are_wanted) {
    (void)self;
    int truth = PyObject_IsTrue(are_wanted);
    if (truth < 0) return NULL;
    are_modules_wanted = truth;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"forward_begins", (PyCFunction)(void *)py_forward_begins, METH_FASTCALL | METH_KEYWORDS, NULL},
    ONE("forward_ends", py_forward_ends),
    ONE("on_forward", py_on_forward),
    ONE("forward_modules", py_forward_modules),
    {NULL, NULL, 0, NULL},
};

int forward_ready(PyObject *module) {
    training_name = PyUnicode_InternFromString("training");
    if (!training_name || PyModule_AddFunctions(module, functions)) return -1;
    return wrapper_ready(&forward_type, module);
}
