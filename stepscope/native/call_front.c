/* Front end of the call engine on 3.12 and later: callbacks for sys.monitoring. What counts as a
   call is what cProfile counts: frames each time they go on, and C functions called by Python. */
#include "calls.h"
#include "functions.h"

#if HAS_MONITORING

static PyObject *missing; /* sys.monitoring.MISSING, owned */

static PyObject *on_enter(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    call_enter_code(args[0]);
    Py_RETURN_NONE;
}

static PyObject *on_leave(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    uint64_t now = ticks_now();
    Thread *thread = this_thread;
    if (UNLIKELY(!thread || !thread->call_top)) Py_RETURN_NONE;
    if (UNLIKELY(!call_leave(thread, args[0], now)) && function_is_known(args[0]))
        call_missed(thread, function_of_code(args[0]));
    Py_RETURN_NONE;
}

/* The definition of a C function that is about to be called; NULL: it is something else. */
static inline PyMethodDef *method_of(PyObject *callable, PyObject *self) {
    PyTypeObject *type = Py_TYPE(callable);
    if (LIKELY(type == &PyFunction_Type)) return NULL;
    if (type == &PyCFunction_Type || type == &PyCMethod_Type) /* neither can be subclassed */
        return ((PyCFunctionObject *)callable)->m_ml;
    if (type == &PyMethodDescr_Type && self != missing)
        return ((PyMethodDescrObject *)callable)->d_method;
    return NULL;
}

/* args: code, offset, callable, its first argument or MISSING. */
static PyObject *on_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    PyMethodDef *method = method_of(args[2], args[3]);
    if (!method) Py_RETURN_NONE;
    uint64_t asking = functions_asking_ticks;
    uint32_t function = function_of_method(method, args[2], args[3]);
    Thread *thread = function ? calls_thread() : NULL;
    if (UNLIKELY(!thread || call_is_ours(thread))) Py_RETURN_NONE;
    if (UNLIKELY(asking != functions_asking_ticks)) call_forgive(thread, functions_asking_ticks - asking);
    call_enter(thread, function, method, CALLS_NOW);
    Py_RETURN_NONE;
}

static PyObject *on_c_leave(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    uint64_t now = ticks_now();
    Thread *thread = this_thread;
    PyMethodDef *method = method_of(args[2], args[3]);
    if (!method || !thread || !thread->call_top || call_is_ours(thread)) Py_RETURN_NONE;
    if (UNLIKELY(!call_leave(thread, method, now))) {
        uint32_t function = function_of_method(method, args[2], args[3]);
        if (function && this_thread->call_top) call_missed(this_thread, function);
    }
    Py_RETURN_NONE;
}

/* A callable that goes straight to its function: 3 ns less than a builtin function. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc function;
} Callback;

static PyTypeObject callback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native.Callback",
    .tp_basicsize = sizeof(Callback),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(Callback, function),
    .tp_call = PyVectorcall_Call,
};

static const struct {
    const char *event;
    vectorcallfunc function;
} callbacks[] = {
    {"PY_START", on_enter},  {"PY_RESUME", on_enter}, {"PY_THROW", on_enter},
    {"PY_RETURN", on_leave}, {"PY_YIELD", on_leave},  {"PY_UNWIND", on_leave},
    {"CALL", on_call},       {"C_RETURN", on_c_leave}, {"C_RAISE", on_c_leave},
    {NULL, NULL},
};

static int find_missing(void) {
    if (missing) return 0;
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    missing = monitoring ? PyObject_GetAttrString(monitoring, "MISSING") : NULL;
    if (!missing && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "this Python has no sys.monitoring");
    return missing ? 0 : -1;
}

PyObject *calls_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (find_missing() || PyType_Ready(&callback_type)) return NULL;
    PyObject *found = PyDict_New();
    for (int i = 0; found && callbacks[i].event; i++) {
        Callback *callback = PyObject_New(Callback, &callback_type);
        if (callback) callback->function = callbacks[i].function;
        if (!callback || PyDict_SetItemString(found, callbacks[i].event, (PyObject *)callback))
            Py_CLEAR(found);
        Py_XDECREF(callback);
    }
    return found;
}

/* The script's own profile function works beside ours. */
PyObject *calls_attach(PyObject *self, PyObject *on_taken) {
    (void)self, (void)on_taken;
    if (call_setprofile_place()) return NULL;
    Py_RETURN_NONE;
}

PyObject *calls_detach(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (call_setprofile_remove()) return NULL;
    Py_RETURN_NONE;
}

void calls_profiler_set(void) { call_setprofile_seen(); }

#endif
