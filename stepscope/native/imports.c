/* Imports and exec: C functions in the place of importlib's and Python's own, so that no frame of
   ours appears in anybody's traceback. */
#include "imports.h"
#include "clock.h"
#include "events.h"
#include "hooks.h"

PyObject *hooks_see_code(PyObject *code);

typedef struct {
    PyObject *owner;    /* module, owned */
    const char *name;
    PyObject *original; /* owned; NULL while not replaced */
    PyObject *ours;     /* owned */
} Replaced;

static Replaced find_and_load, exec_builtin;
static PyObject *on_name, *on_import, *watched; /* owned */
static __thread int depth __attribute__((tls_model("initial-exec")));

/* ---- _find_and_load(name, import_) --------------------------------------------------------------- */

static uint64_t begin_import(PyObject *name) {
    PyObject *id = hooks_call(on_name, &name, 1);
    uint32_t name_id = id && PyLong_Check(id) ? (uint32_t)PyLong_AsUnsignedLongMask(id) : 0;
    Py_XDECREF(id);
    return event_span_begin(name_id, SPAN_IMPORT);
}

static void loaded(PyObject *name) {
    if (!on_import || !watched || PySet_Contains(watched, name) != 1) return;
    Py_XDECREF(hooks_call(on_import, &name, 1));
}

static PyObject *load(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    PyObject *original = Py_NewRef(find_and_load.original);
    uint64_t span = depth++ == 0 && on_name && count ? begin_import(args[0]) : 0;
    PyObject *module = PyObject_Vectorcall(original, args, (size_t)count, names);
    depth--;
    if (span) event_span_end(span, ticks_now());
    if (module && count) loaded(args[0]);
    Py_DECREF(original);
    return module;
}

/* ---- exec ------------------------------------------------------------------------------------------ */

static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    PyObject *original = Py_NewRef(exec_builtin.original);
    PyObject *replacement = count && count <= 3 && PyCode_Check(args[0]) ? hooks_see_code(args[0]) : NULL;
    PyObject *result;
    if (replacement) {
        Py_ssize_t keywords = names ? PyTuple_GET_SIZE(names) : 0;
        PyObject *changed[8] = {replacement};
        for (Py_ssize_t i = 1; i < count + keywords && i < 8; i++) changed[i] = args[i];
        result = PyObject_Vectorcall(original, changed, (size_t)count, names);
        Py_DECREF(replacement);
    } else {
        result = PyObject_Vectorcall(original, args, (size_t)count, names);
    }
    Py_DECREF(original);
    return result;
}

/* ---- standing in ------------------------------------------------------------------------------------ */

static PyMethodDef load_method = {"_find_and_load", (PyCFunction)(void *)load,
                                  METH_FASTCALL | METH_KEYWORDS, NULL};
static PyMethodDef run_method = {"exec", (PyCFunction)(void *)run,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};

static int replace(Replaced *place, const char *module, PyMethodDef *method) {
    if (place->original) return 0;
    place->name = method->ml_name;
    if (!(place->owner = PyImport_ImportModule(module))) return -1;
    if (!(place->original = PyObject_GetAttrString(place->owner, place->name))) return -1;
    if (PyCFunction_Check(place->original)) /* inspect.signature reads it from the text */
        method->ml_doc = ((PyCFunctionObject *)place->original)->m_ml->ml_doc;
    PyObject *module_name = PyUnicode_FromString(module);
    place->ours = module_name ? PyCFunction_NewEx(method, place->owner, module_name) : NULL;
    Py_XDECREF(module_name);
    if (!place->ours) return -1;
    return PyObject_SetAttrString(place->owner, place->name, place->ours);
}

/* Only if it is still ours: somebody may have put his own over it. */
static int put_back(Replaced *place) {
    if (!place->original) return 0;
    PyObject *now = PyObject_GetAttrString(place->owner, place->name);
    if (!now) return -1;
    int failed = 0;
    if (now == place->ours) {
        failed = PyObject_SetAttrString(place->owner, place->name, place->original);
        Py_CLEAR(place->original);
        Py_CLEAR(place->ours);
        Py_CLEAR(place->owner);
    }
    Py_DECREF(now);
    return failed;
}

int imports_start(PyObject *name_hook, PyObject *import_hook, PyObject *watched_names) {
    Py_XSETREF(on_name, Py_NewRef(name_hook));
    Py_XSETREF(on_import, Py_NewRef(import_hook));
    Py_XSETREF(watched, Py_NewRef(watched_names));
    if (replace(&find_and_load, "_frozen_importlib", &load_method)) return -1;
    if (HAS_MONITORING) return 0;
    return replace(&exec_builtin, "builtins", &run_method);
}

int imports_stop(void) {
    Py_CLEAR(on_name);
    Py_CLEAR(on_import);
    Py_CLEAR(watched);
    if (put_back(&find_and_load)) return -1;
    return put_back(&exec_builtin);
}
