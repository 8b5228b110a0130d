/* Giving way in sys.monitoring: our tool id is free for everybody who asks for it, and the script's
   own trace function gets all of its events. */
#include "tools.h"
#include "hooks.h"
#include "standin.h"

static StandIn use_tool_id, get_tool, settrace;
static PyObject *give_way; /* owned: called when somebody wants our id */
static long our_id = -1;

static int wants_ours(PyObject *const *args, Py_ssize_t count) {
    if (our_id < 0 || !count || !PyLong_Check(args[0])) return 0;
    long id = PyLong_AsLong(args[0]);
    if (id == -1) PyErr_Clear(); /* not a number of ours, then */
    return id == our_id;
}

/* use_tool_id(tool_id, name, /): we move to another id before. */
static PyObject *use(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (count == 2 && give_way && wants_ours(args, count)) Py_XDECREF(hooks_call(give_way, NULL, 0));
    return PyObject_Vectorcall(use_tool_id.original, args, (size_t)count, NULL);
}

/* get_tool(tool_id, /): nobody has our id. */
static PyObject *get(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (count == 1 && wants_ours(args, count)) Py_RETURN_NONE;
    return PyObject_Vectorcall(get_tool.original, args, (size_t)count, NULL);
}

/* sys.settrace(function, /): from 3.13 on, a frame that asked for opcode events before (as
   pdb.set_trace does) loses them when the trace function becomes the second tool on its code.
   Restarting the events gives them back. */
static PyObject *trace(PyObject *self, PyObject *function) {
    (void)self;
    PyObject *result = PyObject_CallOneArg(settrace.original, function);
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    if (!result || function == Py_None || our_id < 0 || !monitoring) return result;
    PyObject *restarted = PyObject_CallMethod(monitoring, "restart_events", NULL);
    if (!restarted) PyErr_Clear();
    Py_XDECREF(restarted);
    return result;
}

static PyMethodDef trace_method = {"settrace", trace, METH_O, NULL};
static PyMethodDef use_method = {"use_tool_id", (PyCFunction)(void *)use, METH_FASTCALL, NULL};
static PyMethodDef get_method = {"get_tool", (PyCFunction)(void *)get, METH_FASTCALL, NULL};

static int stand_in_for_settrace(void) {
    if (PY_VERSION_HEX < 0x030d0000) return 0;
    PyObject *sys = PyImport_ImportModule("sys");
    int failed = standin_place(&settrace, sys, &trace_method, 0);
    Py_XDECREF(sys);
    return failed;
}

PyObject *tools_lend(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *monitoring = PySys_GetObject("monitoring"), *callback; /* borrowed */
    long id;
    if (!PyArg_ParseTuple(args, "lO", &id, &callback)) return NULL;
    if (!monitoring) return PyErr_Format(PyExc_NotImplementedError, "this Python has no sys.monitoring");
    if (standin_place(&use_tool_id, monitoring, &use_method, 0) ||
        standin_place(&get_tool, monitoring, &get_method, 0) || stand_in_for_settrace())
        return NULL;
    our_id = id;
    Py_XSETREF(give_way, Py_NewRef(callback));
    Py_RETURN_NONE;
}

PyObject *tools_take_back(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    our_id = -1;
    Py_CLEAR(give_way);
    if (standin_remove(&use_tool_id) || standin_remove(&get_tool) || standin_remove(&settrace))
        return NULL;
    Py_RETURN_NONE;
}
