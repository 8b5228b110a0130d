/* Steps of optimizers: spans with the optimizer's number, and a call into Python at the steps that
   something waits for. In between a step costs no frame. */
#include "wrappers/optimizers.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "python/listener.h"
#include "python/methods.h"
#include "wrappers/ranges.h"

enum { OPEN = 16 };

typedef struct {
    uint32_t name;
    uint64_t steps, call_at; /* steps that have ended; at how many to call on_step */
} Optimizer;

typedef struct {
    PyObject *optimizer; /* only compared */
    uint64_t span;
    Py_ssize_t number;
} Step;

static struct {
    unsigned int category;
    PyObject *numbers; /* dict: the id of an optimizer to its number */
    PyObject *on_new;  /* (optimizer) -> (number, name): it goes into `numbers` */
    PyObject *on_step; /* (number, steps) -> the number of steps at which to call it next */
} recording;

static PyObject *on_optimizer; /* called with the optimizer after each step */
static PyObject *in_charge;    /* a wrapper around it reports its steps; or NULL */
static Optimizer *optimizers;  /* by number */
static Py_ssize_t optimizer_count;

/* Steps that have begun on this thread, the last one last. */
static __thread Step steps[OPEN];
static __thread int step_count;

/* ---- optimizers ---------------------------------------------------------------------------------------- */

static int make_room(Py_ssize_t number) {
    if (number < optimizer_count) return number < 0 ? -1 : 0;
    Py_ssize_t count = 2 * number + 8;
    Optimizer *more = PyMem_Realloc(optimizers, (size_t)count * sizeof *more);
    if (!more) return -1;
    for (Py_ssize_t i = optimizer_count; i < count; i++) more[i] = (Optimizer){0};
    optimizers = more, optimizer_count = count;
    return 0;
}

/* Its number from now on; -1 with an exception set. */
static Py_ssize_t add(PyObject *optimizer) {
    PyObject *made = PyObject_CallOneArg(recording.on_new, optimizer);
    Py_ssize_t number = -1;
    unsigned int name = 0;
    if (!made || !PyArg_ParseTuple(made, "nI", &number, &name)) number = -1;
    else if (make_room(number)) PyErr_NoMemory(), number = -1;
    else optimizers[number] = (Optimizer){.name = name};
    Py_XDECREF(made);
    return number;
}

static Py_ssize_t number_of(PyObject *optimizer) {
    PyObject *key = PyLong_FromVoidPtr(optimizer);
    PyObject *number = key ? PyDict_GetItemWithError(recording.numbers, key) : NULL;
    Py_XDECREF(key);
    if (number) return PyLong_AsSsize_t(number);
    return PyErr_Occurred() ? -1 : add(optimizer);
}

/* ---- their steps --------------------------------------------------------------------------------------- */

/* The optimizer's step that has begun on this thread; those that began after it raised. */
static Step take(PyObject *optimizer) {
    for (int i = step_count - 1; i >= 0; i--)
        if (steps[i].optimizer == optimizer) {
            step_count = i;
            return steps[i];
        }
    return (Step){0};
}

static void put(Step step) {
    if (step_count == OPEN) step_count = 0; /* they were never ended */
    steps[step_count++] = step;
}

static PyObject *py_optimizer_begins(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!count || !recording.on_new || args[0] == in_charge) Py_RETURN_NONE;
    Event *raised = event_span_at(take(args[0]).span);
    if (raised) raised->end = raised->start;
    Py_ssize_t number = number_of(args[0]);
    if (number < 0) return NULL;
    uint64_t span = range_span((Event){.name = optimizers[number].name, .extra = recording.category,
                                       .value0 = (uint64_t)number, .start = ticks_now()});
    put((Step){.optimizer = args[0], .span = span, .number = number});
    Py_RETURN_NONE;
}

static int report_step(Py_ssize_t number) {
    Optimizer *optimizer = &optimizers[number];
    uint64_t ended = ++optimizer->steps;
    if (ended < optimizer->call_at || !recording.on_step) return 0;
    PyObject *next = PyObject_CallFunction(recording.on_step, "nK", number, (unsigned long long)ended);
    uint64_t call_at = next ? PyLong_AsUnsignedLongLong(next) : 0;
    Py_XDECREF(next);
    if (PyErr_Occurred()) return -1;
    if (number < optimizer_count) optimizers[number].call_at = call_at; /* they may have moved */
    return 0;
}

static PyObject *py_optimizer_ends(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!count || args[0] == in_charge) Py_RETURN_NONE;
    if (listener_call(on_optimizer, args[0])) return NULL;
    Step step = take(args[0]);
    if (!step.optimizer) Py_RETURN_NONE;
    event_span_end(step.span, ticks_now());
    if (step.number < optimizer_count && report_step(step.number)) return NULL;
    Py_RETURN_NONE;
}

/* ---- start and stop ------------------------------------------------------------------------------------ */

static PyObject *py_optimizers_start(PyObject *self, PyObject *args) {
    (void)self;
    unsigned int category;
    PyObject *numbers, *on_new, *on_step;
    if (!PyArg_ParseTuple(args, "IO!OO", &category, &PyDict_Type, &numbers, &on_new, &on_step))
        return NULL;
    recording.category = category;
    listener_set(&recording.numbers, numbers);
    listener_set(&recording.on_new, on_new);
    listener_set(&recording.on_step, on_step);
    Py_RETURN_NONE;
}

static PyObject *py_optimizers_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    listener_set(&recording.on_new, NULL);
    listener_set(&recording.on_step, NULL);
    listener_set(&recording.numbers, NULL);
    PyMem_Free(optimizers);
    optimizers = NULL, optimizer_count = 0;
    Py_RETURN_NONE;
}

static PyObject *py_on_optimizer(PyObject *self, PyObject *listener) {
    (void)self;
    listener_set(&on_optimizer, listener);
    Py_RETURN_NONE;
}

static PyObject *py_optimizer_in_charge(PyObject *self, PyObject *optimizer) {
    (void)self;
    listener_set(&in_charge, optimizer);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    ARGS("optimizers_start", py_optimizers_start),
    NOARGS("optimizers_stop", py_optimizers_stop),
    FAST("optimizer_begins", py_optimizer_begins),
    FAST("optimizer_ends", py_optimizer_ends),
    ONE("optimizer_in_charge", py_optimizer_in_charge),
    ONE("on_optimizer", py_on_optimizer),
    {NULL, NULL, 0, NULL},
};

int optimizers_ready(PyObject *module) { return PyModule_AddFunctions(module, functions); }
