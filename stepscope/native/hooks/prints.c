/* print is a C function: only another C function can replace it without being noticed. */
#include "hooks/prints.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "python/standin.h"
#include "storage/storage.h"

static StandIn builtin_print;
static uint32_t name_id;

static PyObject *print(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    uint64_t span = name_id ? event_span_begin(name_id, SPAN_LOGGING) : 0;
    PyObject *result = standin_call_original(&builtin_print, args, count, names);
    if (span) event_span_end(span, ticks_now());
    return result;
}

static PyMethodDef print_method = {"print", (PyCFunction)(void *)print,
                                   METH_FASTCALL | METH_KEYWORDS, NULL};

int prints_start(uint32_t name) {
    PyObject *builtins = PyImport_ImportModule("builtins");
    int failed = standin_place(&builtin_print, builtins, &print_method, 0);
    Py_XDECREF(builtins);
    name_id = failed ? 0 : name;
    return failed;
}

int prints_stop(void) {
    name_id = 0;
    return standin_remove(&builtin_print);
}
