/* Front end of the call engine on 3.11: the C profile function, on every thread. A thread has only
   one: when the script sets its own, ours is gone and the recording is notified. */
#include "calls/call_graph.h"
#include "calls/calls.h"
#include "interpreter/functions.h"
#include "python/untraced.h"
#include "python/standin.h"

#if !HAS_MONITORING

static PyObject *on_taken; /* owned: called once when the script sets a profile function */

/* ---- events ------------------------------------------------------------------------------------------- */

static void enter_builtin(PyObject *builtin) {
    uint64_t asking = functions_asking_ticks;
    uint32_t function = PyCFunction_Check(builtin) ? function_of_builtin(builtin) : 0;
    Thread *thread = function ? calls_thread() : NULL;
    if (UNLIKELY(!thread || call_is_ours(thread))) return;
    if (UNLIKELY(asking != functions_asking_ticks)) call_forgive(thread, functions_asking_ticks - asking);
    call_enter(thread, function, ((PyCFunctionObject *)builtin)->m_ml, CALLS_NOW);
}

static int on_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *argument) {
    uint64_t now = ticks_now();
    Thread *thread = this_thread;
    PyObject *code = (PyObject *)frame->f_frame->f_code;
    switch (what) {
    case PyTrace_CALL: call_enter_code(code); break;
    case PyTrace_RETURN:
        if (UNLIKELY(!thread || !thread->call_top)) break;
        if (UNLIKELY(!call_leave(thread, code, now)) && function_is_known(code))
            call_missed(thread, function_of_code(code));
        break;
    case PyTrace_C_CALL: enter_builtin(argument); break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (PyCFunction_Check(argument) && thread && thread->call_top && !call_is_ours(thread))
            call_leave(thread, ((PyCFunctionObject *)argument)->m_ml, now);
        break;
    }
    if (UNLIKELY(call_graph_number != 0)) call_graph_on_profile(self, frame, what, argument);
    return 0;
}

/* ---- threads ------------------------------------------------------------------------------------------ */

int calls_profile_is_ours(PyThreadState *tstate) { return tstate->c_profilefunc == on_profile; }

/* PyEval_SetProfile works only for the calling thread, and raises an audit event. */
void calls_set_profile(PyThreadState *tstate, Py_tracefunc function) {
    tstate->c_profilefunc = function;
    int tracing = tstate->tracing <= 0 && (tstate->c_tracefunc || tstate->c_profilefunc);
    tstate->cframe->use_tracing = tracing ? 255 : 0;
}

void calls_set_profile_of_all(Py_tracefunc from, Py_tracefunc to) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    for (PyThreadState *tstate = PyInterpreterState_ThreadHead(interpreter); tstate;
         tstate = PyThreadState_Next(tstate))
        if (tstate->c_profilefunc == from) calls_set_profile(tstate, to);
}

/* What a new thread runs instead of its function: it sets our profile function first. */
typedef struct {
    PyObject_HEAD
    PyObject *function; /* owned */
} ThreadStart;

static PyObject *begin_thread(PyObject *self, PyObject *args, PyObject *keywords) {
    PyThreadState *tstate = PyThreadState_Get();
    if (calls_on && !tstate->c_profilefunc) calls_set_profile(tstate, on_profile);
    return PyObject_Call(((ThreadStart *)self)->function, args, keywords);
}

/* Python names the function when its thread ends with an exception. */
static PyObject *repr_thread(PyObject *self) { return PyObject_Repr(((ThreadStart *)self)->function); }

static void forget_thread(PyObject *self) {
    Py_DECREF(((ThreadStart *)self)->function);
    PyObject_Free(self);
}

static PyTypeObject thread_start_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native.ThreadStart",
    .tp_basicsize = sizeof(ThreadStart),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_call = begin_thread,
    .tp_repr = repr_thread,
    .tp_str = repr_thread,
    .tp_dealloc = forget_thread,
};

static StandIn start_thread, start_thread_again; /* of _thread, and as threading knows it */

/* start_new_thread(function, args, kwargs={}, /) */
static PyObject *start(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!calls_on || count < 2 || count > 3 || !PyCallable_Check(args[0]))
        return PyObject_Vectorcall(start_thread.original, args, (size_t)count, NULL);
    ThreadStart *wrapped = PyObject_New(ThreadStart, &thread_start_type);
    if (!wrapped) return NULL;
    wrapped->function = Py_NewRef(args[0]);
    PyObject *changed[] = {(PyObject *)wrapped, args[1], count == 3 ? args[2] : NULL};
    PyObject *result = PyObject_Vectorcall(start_thread.original, changed, (size_t)count, NULL);
    Py_DECREF(wrapped);
    return result;
}

static PyMethodDef start_method = {"start_new_thread", (PyCFunction)(void *)start, METH_FASTCALL, NULL};

static int watch_threads(void) {
    PyObject *native = PyImport_ImportModule("_thread");
    int failed = PyType_Ready(&thread_start_type) || standin_place(&start_thread, native, &start_method, 0);
    Py_XDECREF(native);
    PyObject *threading = failed ? NULL : PyImport_ImportModule("threading");
    if (!threading) return -1;
    if (!start_thread_again.ours)
        start_thread_again = (StandIn){threading, "_start_new_thread", Py_NewRef(start_thread.original),
                                       Py_NewRef(start_thread.ours)};
    else Py_DECREF(threading);
    return standin_place(&start_thread_again, start_thread_again.owner, &start_method, 0);
}

/* ---- start and stop ------------------------------------------------------------------------------------ */

PyObject *calls_attach(PyObject *self, PyObject *callback) {
    (void)self;
    if (watch_threads() || call_setprofile_place()) return NULL;
    Py_XSETREF(on_taken, callback == Py_None ? NULL : Py_NewRef(callback));
    calls_set_profile_of_all(NULL, on_profile);
    calls_set_profile_of_all(call_graph_on_profile, on_profile); /* we pass events on to it */
    Py_RETURN_NONE;
}

PyObject *calls_detach(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    calls_set_profile_of_all(on_profile, NULL);
    call_graph_attach_again();
    Py_CLEAR(on_taken);
    if (standin_remove(&start_thread) || standin_remove(&start_thread_again) || call_setprofile_remove())
        return NULL;
    Py_RETURN_NONE;
}

void calls_profiler_set(void) {
    call_setprofile_seen();
    PyThreadState *tstate = PyThreadState_Get();
    if (!calls_on || tstate->c_profilefunc != on_profile) return;
    if (this_thread) calls_thread_release(this_thread, ticks_now());
    PyObject *callback = on_taken;
    on_taken = NULL;
    if (callback) Py_XDECREF(untraced_call(callback, NULL, 0));
    Py_XDECREF(callback);
}

PyObject *calls_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyDict_New();
}

#endif
