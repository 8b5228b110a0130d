/* Front end of the call graph on 3.12 and later: callbacks for sys.monitoring, which the caller
   registers. They are called on all threads; only one thread is counted. */
#include "calls/call_graph.h"
#include "python/monitored.h"

#if HAS_MONITORING

static PyObject *on_enter(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    if (call_graph_is_on()) call_graph_enter(args[0], args[0], NULL);
    Py_RETURN_NONE;
}

static PyObject *on_leave(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    if (call_graph_is_on()) call_graph_leave(args[0], 1);
    Py_RETURN_NONE;
}

/* args: code, offset, callable, its first argument or MISSING. */
static inline PyMethodDef *wanted(PyObject *const *args) {
    return call_graph_is_on() && call_graph_builtins ? monitored_method(args[2], args[3]) : NULL;
}

static PyObject *on_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    PyMethodDef *method = wanted(args);
    if (method) call_graph_enter(method, args[2], args[3]);
    Py_RETURN_NONE;
}

static PyObject *on_c_leave(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    PyMethodDef *method = wanted(args);
    if (method) call_graph_leave(method, 1);
    Py_RETURN_NONE;
}

PyObject *call_graph_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return monitored_calls(on_enter, on_leave, on_call, on_c_leave);
}

int call_graph_attach(void) { return 0; }
void call_graph_detach(void) {}

#endif
