/* Front end of the call engine on 3.12 and later: callbacks for sys.monitoring. What counts as a
   call is what cProfile counts: starts and resumes of frames, and C functions called by Python. */
#include "calls/calls.h"
#include "interpreter/functions.h"
#include "python/monitored.h"

#if HAS_MONITORING

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

/* args: code, offset, callable, its first argument or MISSING. */
static PyObject *on_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self, (void)count, (void)names;
    PyMethodDef *method = monitored_method(args[2], args[3]);
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
    PyMethodDef *method = monitored_method(args[2], args[3]);
    if (!method || !thread || !thread->call_top || call_is_ours(thread)) Py_RETURN_NONE;
    if (UNLIKELY(!call_leave(thread, method, now))) {
        uint32_t function = function_of_method(method, args[2], args[3]);
        if (function && this_thread->call_top) call_missed(this_thread, function);
    }
    Py_RETURN_NONE;
}

PyObject *calls_callbacks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return monitored_calls(on_enter, on_leave, on_call, on_c_leave);
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
