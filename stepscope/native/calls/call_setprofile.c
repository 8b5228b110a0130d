/* Giving way to the script's own profile function. While calls are counted, the call of
   sys.setprofile is itself reported: the function that it sets would see an end without a
   beginning, which `profile` does not survive. So it is replaced by a callable that is not a
   builtin function, which profile functions do not see. As soon as a function is set, the
   replacement is removed, because that function must see the next call of sys.setprofile. */
#include "calls/calls.h"
#include "python/standin.h"

static StandIn setprofile;
static __thread int inside __attribute__((tls_model("initial-exec")));

static PyObject *set(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
static PyMethodDef set_method = {"setprofile", (PyCFunction)(void *)set, METH_FASTCALL | METH_KEYWORDS,
                                 NULL};

int call_setprofile_place(void) {
    PyObject *sys = PyImport_ImportModule("sys");
    int failed = standin_place(&setprofile, sys, &set_method, 1);
    Py_XDECREF(sys);
    return failed;
}

int call_setprofile_remove(void) { return standin_remove(&setprofile); }

/* sys.setprofile(function, /) */
static PyObject *set(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    int removed = count == 1 && args[0] != Py_None;
    if (removed && call_setprofile_remove()) return NULL;
    inside++;
    PyObject *result = standin_call_original(&setprofile, args, count, names);
    inside--;
    return result;
}

/* Other code sets one: most often None, after which the next call must be hidden again. */
void call_setprofile_seen(void) {
    if (!calls_on || inside || !setprofile.ours) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (call_setprofile_place()) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}
