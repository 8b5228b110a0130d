/* How many samples are in the arguments that a model is called with. */
#include "wrappers/batches.h"
#include "python/methods.h"
#include "python/untraced.h"

enum { DEEPEST = 16, NOT_KNOWN = -1, INTERRUPTED = -2 }; /* a list may contain itself */

static PyObject *shape_name;

/* The first part: a new reference, the object itself if it has no parts; or NULL. */
static PyObject *front_of(PyObject *part) {
    if (PyDict_Check(part) && PyDict_Size(part)) {
        PyObject *values = PyMapping_Values(part);
        PyObject *front = values ? PySequence_GetItem(values, 0) : NULL;
        Py_XDECREF(values);
        return front;
    }
    int has_parts = (PyTuple_Check(part) || PyList_Check(part)) && Py_SIZE(part);
    return has_parts ? PySequence_GetItem(part, 0) : Py_NewRef(part);
}

/* A new reference, or NULL. */
static PyObject *first_part(PyObject *batch) {
    PyObject *part = Py_NewRef(batch);
    for (int depth = 0; part && depth < DEEPEST; depth++) {
        PyObject *front = front_of(part);
        Py_DECREF(part);
        if (front == part) return front;
        part = front;
    }
    return part;
}

/* Along one dimension. Numbers only: asking for a symbolic length would fix it. */
static long long length_of(PyObject *part, Py_ssize_t dimension) {
    PyObject *shape = PyObject_GetAttr(part, shape_name);
    PyObject *length = shape ? PySequence_GetItem(shape, dimension) : NULL;
    long long found = length && PyLong_Check(length) ? PyLong_AsLongLong(length) : NOT_KNOWN;
    Py_XDECREF(length);
    Py_XDECREF(shape);
    return found < 0 ? NOT_KNOWN : found;
}

/* Inputs of (time, batch, features) come with labels of (batch,): then the second dimension counts. */
static long long length_with_labels(PyObject *inputs, PyObject *batch, long long first) {
    int has_labels = (PyTuple_Check(batch) || PyList_Check(batch)) && Py_SIZE(batch) == 2;
    PyObject *second = has_labels ? PySequence_GetItem(batch, 1) : NULL;
    PyObject *labels = second ? first_part(second) : NULL;
    long long found = labels ? length_of(labels, 0) : NOT_KNOWN;
    int agree = found < 0 || found == first || length_of(inputs, 1) != found;
    Py_XDECREF(labels);
    Py_XDECREF(second);
    if (PyErr_Occurred()) untraced_drop_error(); /* what stays is seen by the caller */
    return agree ? first : found;
}

long long batch_samples(PyObject *batch) {
    PyObject *part = first_part(batch);
    long long samples = part ? length_of(part, 0) : NOT_KNOWN;
    if (samples >= 0) samples = length_with_labels(part, batch, samples);
    Py_XDECREF(part);
    if (!PyErr_Occurred()) return samples;
    return untraced_drop_error() ? INTERRUPTED : NOT_KNOWN; /* a shape class of the script may do anything */
}

/* ---- for Python ---------------------------------------------------------------------------------------- */

static PyObject *py_samples_in(PyObject *self, PyObject *batch) {
    (void)self;
    long long samples = batch_samples(batch);
    if (samples == INTERRUPTED) return NULL;
    if (samples == NOT_KNOWN) Py_RETURN_NONE;
    return PyLong_FromLongLong(samples);
}

static PyMethodDef functions[] = {ONE("samples_in", py_samples_in), {NULL, NULL, 0, NULL}};

int batches_ready(PyObject *module) {
    shape_name = PyUnicode_InternFromString("shape");
    return shape_name ? PyModule_AddFunctions(module, functions) : -1;
}
