/* Giving way in sys.monitoring: our tool ids look free to other tools, and the script's own trace
   function gets all of its events. */
#include "hooks/tools.h"
#include "python/standin.h"
#include "python/untraced.h"

static StandIn use_tool_id, get_tool, settrace;
enum { TOOL_IDS = 6 };
static PyObject *give_way[TOOL_IDS]; /* owned: called when others want this id; NULL: not ours */

static int any_is_ours(void) {
    for (int id = 0; id < TOOL_IDS; id++)
        if (give_way[id]) return 1;
    return 0;
}

/* What to call before others use the id, borrowed; NULL: it is not ours. */
static PyObject *lender_of(PyObject *tool_id) {
    if (!PyLong_Check(tool_id)) return NULL;
    long id = PyLong_AsLong(tool_id);
    if (id == -1) PyErr_Clear(); /* not one of our ids, then */
    return id >= 0 && id < TOOL_IDS ? give_way[id] : NULL;
}

/* use_tool_id(tool_id, name, /): we move to another id first. */
static PyObject *use(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    PyObject *lender = count == 2 ? Py_XNewRef(lender_of(args[0])) : NULL;
    if (lender) Py_XDECREF(untraced_call(lender, NULL, 0));
    Py_XDECREF(lender);
    return PyObject_Vectorcall(use_tool_id.original, args, (size_t)count, NULL);
}

/* get_tool(tool_id, /): our ids look unused. */
static PyObject *get(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (count == 1 && lender_of(args[0])) Py_RETURN_NONE;
    return PyObject_Vectorcall(get_tool.original, args, (size_t)count, NULL);
}

/* sys.settrace(function, /): from 3.13 on, a frame that asked for opcode events before (as
   pdb.set_trace does) loses them when the trace function becomes the second tool on its code.
   Restarting the events gives them back. */
static PyObject *trace(PyObject *self, PyObject *function) {
    (void)self;
    PyObject *result = PyObject_CallOneArg(settrace.original, function);
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    if (!result || function == Py_None || !any_is_ours() || !monitoring) return result;
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
    if (id < 0 || id >= TOOL_IDS) return PyErr_Format(PyExc_ValueError, "no tool has id %ld", id);
    if (!monitoring) return PyErr_Format(PyExc_RuntimeError, "this Python has no sys.monitoring");
    if (standin_place(&use_tool_id, monitoring, &use_method, 0) ||
        standin_place(&get_tool, monitoring, &get_method, 0) || stand_in_for_settrace())
        return NULL;
    Py_XSETREF(give_way[id], Py_NewRef(callback));
    Py_RETURN_NONE;
}

PyObject *tools_take_back(PyObject *self, PyObject *tool_id) {
    (void)self;
    long id = PyLong_AsLong(tool_id);
    if (id == -1 && PyErr_Occurred()) return NULL;
    if (id >= 0 && id < TOOL_IDS) Py_CLEAR(give_way[id]);
    if (any_is_ours()) Py_RETURN_NONE;
    if (standin_remove(&use_tool_id) || standin_remove(&get_tool) || standin_remove(&settrace))
        return NULL;
    Py_RETURN_NONE;
}
