/* Our callable in place of a function: it makes no frame, and takes a tenth of the time that a
   wrapper in Python takes after a convolution has swept the caches. Everything but the call goes
   to the function itself. */
#include "wrappers/wrapper.h"

#include <structmember.h>

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type) {
    (void)type;
    return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

static PyObject *get_attribute(PyObject *self, PyObject *name) {
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
    PyErr_Clear();
    return PyObject_GetAttr(((Wrapper *)self)->function, name);
}

static int set_attribute(PyObject *self, PyObject *name, PyObject *value) {
    return PyObject_SetAttr(((Wrapper *)self)->function, name, value);
}

static PyObject *represent(PyObject *self) { return PyObject_Repr(((Wrapper *)self)->function); }

static PyObject *get_class(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)Py_TYPE(((Wrapper *)self)->function));
}

static PyObject *get_doc(PyObject *self, void *unused) {
    (void)unused;
    return PyObject_GetAttrString(((Wrapper *)self)->function, "__doc__");
}

/* Pickle and copy refer to it by name, as with functions. */
static PyObject *reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *stop(PyObject *self, PyObject *unused) {
    (void)unused;
    ((Wrapper *)self)->is_stopped = 1;
    Py_RETURN_NONE;
}

/* ---- the type ---------------------------------------------------------------------------------------- */

PyObject *wrapper_new(PyTypeObject *type, PyObject *function, PyObject *ask, vectorcallfunc call) {
    Wrapper *wrapper = (Wrapper *)type->tp_alloc(type, 0);
    if (!wrapper) return NULL;
    wrapper->call = call;
    wrapper->function = Py_NewRef(function);
    wrapper->ask = ask && ask != Py_None ? Py_NewRef(ask) : NULL;
    return (PyObject *)wrapper;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Wrapper *wrapper = (Wrapper *)self;
    Py_VISIT(wrapper->function);
    Py_VISIT(wrapper->ask);
    Py_VISIT(wrapper->more);
    return 0;
}

static int clear(PyObject *self) {
    Wrapper *wrapper = (Wrapper *)self;
    wrapper->is_stopped = 1; /* without these there is nothing to record */
    Py_CLEAR(wrapper->ask);
    Py_CLEAR(wrapper->more);
    return 0; /* the function stays: it may still be called */
}

static void release(PyObject *self) {
    Wrapper *wrapper = (Wrapper *)self;
    PyObject_GC_UnTrack(self);
    if (wrapper->weak_references) PyObject_ClearWeakRefs(self);
    clear(self);
    Py_CLEAR(wrapper->function);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {"_stepscope_stop", stop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Wrapper, function), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"__class__", get_class, NULL, NULL, NULL},
    {"__doc__", get_doc, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int wrapper_ready(PyTypeObject *type, PyObject *module) {
    type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                     Py_TPFLAGS_METHOD_DESCRIPTOR;
    type->tp_dealloc = release;
    type->tp_traverse = traverse;
    type->tp_clear = clear;
    type->tp_call = PyVectorcall_Call;
    type->tp_vectorcall_offset = offsetof(Wrapper, call);
    type->tp_descr_get = bind;
    type->tp_getattro = get_attribute;
    type->tp_setattro = set_attribute;
    type->tp_repr = represent;
    type->tp_methods = methods;
    type->tp_members = members;
    type->tp_getset = properties;
    type->tp_weaklistoffset = offsetof(Wrapper, weak_references);
    return PyModule_AddType(module, type);
}
