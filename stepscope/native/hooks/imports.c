/* Imports, exec and os._exit: C functions in place of Python's own, so that none of our frames
   appears in a traceback. */
#include "hooks/imports.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "hooks/hooks.h"
#include "hooks/interpreters.h"
#include "python/standin.h"
#include "python/untraced.h"
#include "storage/storage.h"

static StandIn find_and_load, exec_builtin, hard_exit;
static ImportHooks hooks; /* each owned, or NULL */
static __thread int depth __attribute__((tls_model("initial-exec")));

/* ---- _find_and_load(name, import_) --------------------------------------------------------------- */

static uint64_t begin_import(PyObject *name) {
    return event_span_begin(untraced_number(hooks.on_name, &name, 1), SPAN_IMPORT);
}

static void loaded(PyObject *name) {
    if (hooks.on_import && interpreters_loaded(name)) PyErr_Clear(); /* another Python's module */
    if (!hooks.on_import || PySet_Contains(hooks.watched, name) != 1) return;
    Py_XDECREF(untraced_call(hooks.on_import, &name, 1));
}

static PyObject *load(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    uint64_t span = depth++ == 0 && hooks.on_name && count ? begin_import(args[0]) : 0;
    PyObject *module = standin_call_original(&find_and_load, args, count, names);
    depth--;
    if (span) event_span_end(span, ticks_now());
    if (module && count) loaded(args[0]);
    return module;
}

/* ---- exec ------------------------------------------------------------------------------------------ */

enum { EXEC_ARGUMENTS = 4 }; /* source, globals, locals, closure */

static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    int may_swap = count && all <= EXEC_ARGUMENTS && PyCode_Check(args[0]);
    PyObject *replacement = may_swap ? hooks_see_code(args[0]) : NULL;
    PyObject *changed[EXEC_ARGUMENTS] = {replacement};
    for (Py_ssize_t i = 1; replacement && i < all; i++) changed[i] = args[i];
    hooks_seen_code = replacement ? replacement : may_swap ? args[0] : NULL;
    PyObject *result = standin_call_original(&exec_builtin, replacement ? changed : args, count, names);
    hooks_seen_code = NULL; /* it may have been refused before it was announced */
    Py_XDECREF(replacement);
    return result;
}

/* ---- os._exit: how multiprocessing's forked children end, past every atexit ------------------------ */

static PyObject *leave(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    if (hooks.on_exit && storage_is_open && !storage_forked)
        Py_XDECREF(untraced_call(hooks.on_exit, NULL, 0));
    return standin_call_original(&hard_exit, args, count, names); /* only returns on an error */
}

/* ---- standing in ------------------------------------------------------------------------------------ */

static PyMethodDef load_method = {"_find_and_load", (PyCFunction)(void *)load,
                                  METH_FASTCALL | METH_KEYWORDS, NULL};
static PyMethodDef run_method = {"exec", (PyCFunction)(void *)run,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};

static PyMethodDef leave_method = {"_exit", (PyCFunction)(void *)leave,
                                   METH_FASTCALL | METH_KEYWORDS, NULL};

static int replace(StandIn *place, const char *name, PyMethodDef *method, int hidden) {
    PyObject *module = PyImport_ImportModule(name);
    int failed = standin_place(place, module, method, hidden);
    Py_XDECREF(module);
    return failed;
}

static void forget_hooks(void) {
    Py_CLEAR(hooks.on_name);
    Py_CLEAR(hooks.on_import);
    Py_CLEAR(hooks.on_exit);
    Py_CLEAR(hooks.watched);
}

int imports_start(ImportHooks wanted) {
    forget_hooks();
    hooks = (ImportHooks){Py_NewRef(wanted.on_name), Py_NewRef(wanted.on_import),
                          Py_NewRef(wanted.on_exit), Py_NewRef(wanted.watched)};
    if (replace(&find_and_load, "_frozen_importlib", &load_method, 1)) return -1;
    if (replace(&hard_exit, "os", &leave_method, 0)) return -1;
    if (interpreters_start()) PyErr_Clear();
    if (HAS_MONITORING) return 0;
    return replace(&exec_builtin, "builtins", &run_method, 0);
}

int imports_stop(void) {
    forget_hooks();
    if (standin_remove(&find_and_load) || standin_remove(&hard_exit) || interpreters_stop()) return -1;
    return standin_remove(&exec_builtin);
}
