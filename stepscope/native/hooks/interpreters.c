/* Functions for another interpreter: 3.13 refuses code that some tool listens to, as we do to the
   user's. So it gets a copy, which nobody listens to; it would run a copy there anyway. From 3.14 on
   `call` takes functions that have no state, whose code it copies, and else those that can be found
   by their names, which is only true of the function itself. */
#include "hooks/interpreters.h"
#include "python/standin.h"

#if PY_VERSION_HEX >= 0x030d0000

enum { ARGUMENTS = 8 }; /* more than any of the three takes */

static StandIn execute, run, call;

static PyObject *copy_of_code(PyObject *code) {
    PyObject *replace = PyObject_GetAttrString(code, "replace");
    PyObject *copy = replace ? PyObject_CallNoArgs(replace) : NULL;
    Py_XDECREF(replace);
    return copy;
}

/* A new reference: the object itself if it is not a function or code. */
static PyObject *copy_of(PyObject *what) {
    if (PyCode_Check(what)) return copy_of_code(what);
    if (!PyFunction_Check(what)) return Py_NewRef(what);
    PyObject *code = copy_of_code(PyFunction_GET_CODE(what));
    PyObject *copy = code ? PyFunction_New(code, PyFunction_GET_GLOBALS(what)) : NULL;
    Py_XDECREF(code);
    return copy;
}

/* (interpreter, function, ...) */
static PyObject *with_copy(StandIn *place, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    if (count < 2 || all > ARGUMENTS) return standin_call_original(place, args, count, names);
    PyObject *changed[ARGUMENTS];
    for (Py_ssize_t i = 0; i < all; i++) changed[i] = args[i];
    if (!(changed[1] = copy_of(args[1]))) return NULL;
    PyObject *result = standin_call_original(place, changed, count, names);
    Py_DECREF(changed[1]);
    return result;
}

/* What `call` says when it gets this function and an argument that no interpreter takes: it looks at
   the function first, and runs nothing. NULL with an exception if it says nothing. */
static PyObject *refusal(PyObject *id, PyObject *function) {
    PyObject *no_argument = PyCapsule_New(&call, NULL, NULL);
    PyObject *args = no_argument ? PyTuple_Pack(1, no_argument) : NULL;
    PyObject *given[] = {id, function, args};
    PyObject *result = args ? standin_call_original(&call, given, 3, NULL) : NULL;
    Py_XDECREF(no_argument);
    Py_XDECREF(args);
    Py_XDECREF(result);
    PyObject *error = result || !args ? NULL : PyErr_GetRaisedException();
    PyObject *words = error ? PyObject_Str(error) : NULL;
    Py_XDECREF(error);
    return words;
}

/* 1: `call` has nothing against a copy of the function; -1 with an exception. */
static int takes_a_copy(PyObject *id, PyObject *function) {
    PyObject *nothing = PyDict_New();
    PyObject *stateless = nothing ? PyRun_String("lambda: None", Py_eval_input, nothing, nothing) : NULL;
    PyObject *copy = stateless ? copy_of(function) : NULL;
    PyObject *of_argument = copy ? refusal(id, stateless) : NULL;
    PyObject *of_copy = of_argument ? refusal(id, copy) : NULL;
    int takes = of_copy ? PyObject_RichCompareBool(of_copy, of_argument, Py_EQ) : -1;
    Py_XDECREF(nothing);
    Py_XDECREF(stateless);
    Py_XDECREF(copy);
    Py_XDECREF(of_argument);
    Py_XDECREF(of_copy);
    return takes;
}

/* Whether `call` gets the function itself. What goes wrong in asking is not the script's affair. */
static int is_taken_by_name(PyObject *id, PyObject *function) {
    if (PY_VERSION_HEX < 0x030e0000 || !PyFunction_Check(function)) return 0;
    int takes = takes_a_copy(id, function);
    if (takes < 0) PyErr_Clear();
    return takes == 0;
}

static PyObject *on_execute(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    return with_copy(&execute, args, count, names);
}

static PyObject *on_run(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    return with_copy(&run, args, count, names);
}

static PyObject *on_call(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    if (count >= 2 && is_taken_by_name(args[0], args[1]))
        return standin_call_original(&call, args, count, names);
    return with_copy(&call, args, count, names);
}

enum { FLAGS = METH_FASTCALL | METH_KEYWORDS };
static PyMethodDef execute_method = {"exec", (PyCFunction)(void *)on_execute, FLAGS, NULL};
static PyMethodDef run_method = {"run_func", (PyCFunction)(void *)on_run, FLAGS, NULL};
static PyMethodDef call_method = {"call", (PyCFunction)(void *)on_call, FLAGS, NULL};

static int place_all(PyObject *module) {
    return standin_place(&execute, module, &execute_method, 0) ||
                   standin_place(&run, module, &run_method, 0) ||
                   standin_place(&call, module, &call_method, 0)
               ? -1
               : 0;
}

static const char module_name[] = "_interpreters";

int interpreters_start(void) {
    PyObject *modules = PySys_GetObject("modules"); /* borrowed */
    PyObject *module = modules ? PyDict_GetItemString(modules, module_name) : NULL; /* borrowed */
    return module ? place_all(module) : 0;
}

int interpreters_loaded(PyObject *name) {
    int is_it = PyUnicode_Check(name) && !PyUnicode_CompareWithASCIIString(name, module_name);
    return is_it ? interpreters_start() : 0;
}

int interpreters_stop(void) {
    return standin_remove(&execute) || standin_remove(&run) || standin_remove(&call) ? -1 : 0;
}

#else

int interpreters_loaded(PyObject *name) {
    (void)name;
    return 0;
}
int interpreters_start(void) { return 0; }
int interpreters_stop(void) { return 0; }

#endif
