/* Replacing functions of Python in a way that neither inspect nor a profiler notices. */
#include "python/standin.h"

/* ---- a callable that is not a PyCFunction: profilers report calls of those -------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    _PyCFunctionFastWithKeywords function; /* called directly: it takes no level of recursion */
} Hidden;

static PyObject *hidden_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    return ((Hidden *)self)->function(NULL, args, PyVectorcall_NARGS(count), names);
}

static PyTypeObject hidden_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native.StandIn",
    .tp_basicsize = sizeof(Hidden),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(Hidden, vectorcall),
    .tp_call = PyVectorcall_Call,
};

static PyObject *hidden_new(PyMethodDef *method) {
    if (PyType_Ready(&hidden_type)) return NULL;
    Hidden *hidden = PyObject_New(Hidden, &hidden_type);
    if (!hidden) return NULL;
    hidden->vectorcall = hidden_call;
    hidden->function = (_PyCFunctionFastWithKeywords)(void *)method->ml_meth;
    return (PyObject *)hidden;
}

static PyObject *function_like(PyMethodDef *method, PyObject *module, PyObject *original) {
    if (PyCFunction_Check(original)) /* inspect.signature reads it from the text */
        method->ml_doc = ((PyCFunctionObject *)original)->m_ml->ml_doc;
    PyObject *its_module = PyObject_GetAttrString(original, "__module__");
    PyObject *function = its_module ? PyCFunction_NewEx(method, module, its_module) : NULL;
    Py_XDECREF(its_module);
    return function;
}

PyObject *standin_call_original(StandIn *place, PyObject *const *args, Py_ssize_t count,
                                PyObject *names) {
    PyObject *original = place->original;
    if (PyCFunction_Check(original) &&
        PyCFunction_GET_FLAGS(original) == (METH_FASTCALL | METH_KEYWORDS)) {
        PyCFunction function = PyCFunction_GET_FUNCTION(original);
        return ((_PyCFunctionFastWithKeywords)(void *)function)(
            PyCFunction_GET_SELF(original), args, count, names);
    }
    return PyObject_Vectorcall(original, args, (size_t)count, names);
}

/* ---- placing and removing ---------------------------------------------------------------------------- */

static int prepare(StandIn *place, PyObject *module, PyMethodDef *method, int hidden) {
    if (place->ours) return 0;
    place->name = method->ml_name;
    Py_XSETREF(place->owner, Py_NewRef(module));
    Py_XSETREF(place->original, PyObject_GetAttrString(module, place->name));
    if (!place->original) return -1;
    place->ours = hidden ? hidden_new(method) : function_like(method, module, place->original);
    return place->ours ? 0 : -1;
}

/* Whether the module's function is `expected` now; -1 with an exception set. */
static int is_there(StandIn *place, PyObject *expected) {
    PyObject *now = PyObject_GetAttrString(place->owner, place->name);
    Py_XDECREF(now);
    return now ? now == expected : -1;
}

static int change(StandIn *place, PyObject *from, PyObject *to) {
    int there = is_there(place, from);
    if (there <= 0) return there;
    return PyObject_SetAttrString(place->owner, place->name, to);
}

int standin_place(StandIn *place, PyObject *module, PyMethodDef *method, int hidden) {
    if (!module || prepare(place, module, method, hidden)) return -1;
    return change(place, place->original, place->ours);
}

int standin_remove(StandIn *place) {
    return place->ours ? change(place, place->ours, place->original) : 0;
}
