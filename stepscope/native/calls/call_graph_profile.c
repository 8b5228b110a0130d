/* Front end of the call graph on 3.11: the C profile function of the thread. If a recording has
   already set one, that one passes its events on to us. */
#include "calls/call_graph.h"
#include "calls/calls.h"

#if !HAS_MONITORING

static unsigned long attached_thread; /* Python's number of it */

int call_graph_on_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *argument) {
    (void)self;
    if (!call_graph_is_on()) return 0;
    const void *code = frame->f_frame->f_code;
    switch (what) {
    case PyTrace_CALL: call_graph_enter(code, (PyObject *)code, NULL); break;
    case PyTrace_RETURN: call_graph_leave(code, 1); break;
    case PyTrace_C_CALL:
        if (call_graph_builtins && PyCFunction_Check(argument))
            call_graph_enter(((PyCFunctionObject *)argument)->m_ml, argument, NULL);
        break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (call_graph_builtins && PyCFunction_Check(argument))
            call_graph_leave(((PyCFunctionObject *)argument)->m_ml, 0);
        break;
    }
    return 0;
}

int call_graph_attach(void) {
    PyThreadState *tstate = PyThreadState_Get();
    attached_thread = tstate->thread_id;
    if (calls_profile_is_ours(tstate)) return 0;
    if (tstate->c_profilefunc) {
        PyErr_SetString(PyExc_ValueError, "Another profiling tool is already active");
        return -1;
    }
    calls_set_profile(tstate, call_graph_on_profile);
    return 0;
}

/* On any thread: another one may disable us. */
void call_graph_detach(void) { calls_set_profile_of_all(call_graph_on_profile, NULL); }

void call_graph_attach_again(void) {
    if (!call_graph_number) return;
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    while (tstate && tstate->thread_id != attached_thread) tstate = PyThreadState_Next(tstate);
    if (tstate && !tstate->c_profilefunc) calls_set_profile(tstate, call_graph_on_profile);
}

PyObject *call_graph_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyDict_New();
}

#endif
