/* Hooks: the audit hook (code about to run, files opened), threads, forks, stamps. */
#include "hooks/hooks.h"
#include "calls/calls.h"
#include "interpreter/events.h"
#include "hooks/imports.h"
#include "lines/counters.h"
#include "lines/stamps.h"
#include "python/untraced.h"
#include "storage/storage.h"

#include <string.h>
#include <unistd.h>

/* The recording's functions; all NULL while nothing records. Owned. */
static struct {
    PyObject *on_code, *on_open, *on_fork;
} hooks;

static int hooks_on;
static PyInterpreterState *interpreter; /* the one that is recorded */
static int others_ran;                  /* written without our GIL: they may have their own */

/* Audit events come from every interpreter of the process, and our functions belong to one. */
static int is_recorded_interpreter(void) {
    PyThreadState *tstate = thread_state();
    if (tstate && tstate->interp == interpreter) return 1;
    if (tstate) __atomic_store_n(&others_ran, 1, __ATOMIC_RELAXED);
    return 0;
}

PyObject *hooks_others_ran(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(__atomic_load_n(&others_ran, __ATOMIC_RELAXED));
}

/* Opening runs Python, which lets other threads of the child run: their events are lost meanwhile. */
int hooks_open_after_fork(void) {
    static pid_t opening; /* the process that is opening; a fork in the middle of it is another one */
    if (untraced_depth || opening == getpid()) return -1;
    opening = getpid();
    others_ran = 0;
    counters_after_fork();
    Py_XDECREF(untraced_call(hooks.on_fork, NULL, 0));
    opening = 0;
    if (!storage_forked && storage_is_open) return 0;
    storage_is_open = 0; /* no folder, no recording: the child runs on */
    lines_on = 0;
    return -1;
}

/* ---- files ------------------------------------------------------------------------------------- */

static int is_writing(PyObject *mode) {
    if (!PyUnicode_Check(mode)) return 0;
    const char *text = PyUnicode_AsUTF8(mode);
    if (!text) PyErr_Clear();
    return text && strpbrk(text, "wax+") != NULL;
}

static uint64_t add_open(uint32_t name, int writing, Activation *top, uint64_t now) {
    Event event = {.name = name, .start = now, .value0 = now, .extra = (uint32_t)writing};
    if (top) {
        event.start = top->entered;
        event.value1 = top->opens;
    }
    return event_add(EVENT_OPEN, event);
}

/* open(path, mode, flags): attributed to the user's innermost activation on this thread. */
static void note_open(PyObject *args) {
    if (PyTuple_GET_SIZE(args) < 2 || !PyUnicode_Check(PyTuple_GET_ITEM(args, 0))) return;
    uint64_t now = ticks_now(), began = slow_path_begin();
    Thread *thread = thread_get();
    Activation *top = thread && thread->top > thread->base ? thread->top : NULL;
    if (top && !top->record) top = NULL; /* lines.bin was cut there */
    uint32_t line = top && top->current != &line_nowhere ? (uint32_t)(top->current - top->lines) : 0;
    PyObject *code_id = PyLong_FromUnsignedLong(top ? top->record->id : 0);
    PyObject *line_number = PyLong_FromUnsignedLong(line);
    if (code_id && line_number) {
        PyObject *call[] = {PyTuple_GET_ITEM(args, 0), code_id, line_number};
        uint32_t name = untraced_number(hooks.on_open, call, 3);
        if (name) {
            uint64_t offset = add_open(name, is_writing(PyTuple_GET_ITEM(args, 1)), top, now);
            if (top && offset && this_thread && this_thread->top == top) top->opens = offset;
        }
    }
    Py_XDECREF(code_id);
    Py_XDECREF(line_number);
    slow_path_end(began);
}

/* ---- code about to run --------------------------------------------------------------------------- */

PyObject *hooks_see_code(PyObject *code) {
    if (!hooks_on || untraced_depth || !hooks.on_code || record_of(code)) return NULL;
    uint64_t began = slow_path_begin();
    PyObject *replacement = untraced_call(hooks.on_code, &code, 1);
    slow_path_end(began);
    if (replacement && PyCode_Check(replacement) && replacement != code) return replacement;
    Py_XDECREF(replacement);
    return NULL;
}

__thread const PyObject *hooks_seen_code __attribute__((tls_model("initial-exec")));

static void note_exec(PyObject *args) {
    if (PyTuple_GET_SIZE(args) < 1 || !PyCode_Check(PyTuple_GET_ITEM(args, 0))) return;
    PyObject *code = PyTuple_GET_ITEM(args, 0);
    const PyObject *seen = hooks_seen_code;
    hooks_seen_code = NULL;
    if (code == seen) return;
    PyObject *replacement = hooks_see_code(code);
    if (!replacement) return;
    swap_arm(code, replacement);
    Py_DECREF(replacement);
}

static int audit(const char *event, PyObject *args, void *unused) {
    (void)unused;
    if (LIKELY(!hooks_on) || untraced_depth || !args) return 0;
    if (event[0] != 'o' && event[0] != 'e' && event[0] != 's') return 0;
    if (!is_recorded_interpreter()) return 0;
    if (!strcmp(event, "open")) note_open(args);
    else if (!strcmp(event, "exec")) note_exec(args);
    else if (!strcmp(event, "sys.setprofile")) calls_profiler_set();
    return 0;
}

/* ---- garbage collections --------------------------------------------------------------------------- */

/* What a collection says about itself: "generation", "collected". 0 where it does not. */
static uint64_t gc_figure(PyObject *about, const char *name) {
    PyObject *figure = about && PyDict_Check(about) ? PyDict_GetItemString(about, name) : NULL;
    long long value = figure && PyLong_Check(figure) ? PyLong_AsLongLong(figure) : 0;
    if (value == -1 && PyErr_Occurred()) PyErr_Clear();
    return value > 0 ? (uint64_t)value : 0;
}

/* A gc.callbacks entry. Collections under 50 us are not worth a record each. */
PyObject *hooks_gc_callback(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    static uint64_t began;
    uint64_t now = ticks_now();
    const char *phase = count > 0 && PyUnicode_Check(args[0]) ? PyUnicode_AsUTF8(args[0]) : NULL;
    if (!phase) PyErr_Clear();
    else if (!strcmp(phase, "start")) began = now;
    else if (began && now - began >= ns_to_ticks(50e3))
        event_add(EVENT_SPAN, (Event){.start = began, .end = now, .extra = SPAN_GC,
                                      .value0 = 1 + gc_figure(count > 1 ? args[1] : NULL, "generation"),
                                      .value1 = gc_figure(count > 1 ? args[1] : NULL, "collected")});
    Py_RETURN_NONE;
}

/* ---- start and stop ---------------------------------------------------------------------------------- */

static int add_audit_hook(void) {
    static int added; /* Python offers no way to remove one: it stays, inert */
    if (!added && PySys_AddAuditHook(audit, NULL)) return -1;
    added = 1;
    return 0;
}

PyObject *hooks_start(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)self;
    static char *names[] = {"on_code", "on_open", "on_thread", "on_fork", "on_name", "on_import",
                            "on_exit", "watched", NULL};
    PyObject *on_code, *on_open, *on_thread, *on_fork;
    ImportHooks imports;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOOO!", names, &on_code, &on_open,
                                     &on_thread, &on_fork, &imports.on_name, &imports.on_import,
                                     &imports.on_exit, &PyFrozenSet_Type, &imports.watched))
        return NULL;
    if (add_audit_hook()) return NULL;
    interpreter = PyInterpreterState_Get();
    others_ran = 0;
    Py_XSETREF(hooks.on_code, Py_NewRef(on_code));
    Py_XSETREF(hooks.on_open, Py_NewRef(on_open));
    threads_ask(on_thread);
    Py_XSETREF(hooks.on_fork, Py_NewRef(on_fork));
    if (imports_start(imports)) return NULL;
    hooks_on = 1;
    Py_RETURN_NONE;
}

PyObject *hooks_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    hooks_on = 0;
    swap_disarm();
    Py_CLEAR(hooks.on_code);
    Py_CLEAR(hooks.on_open);
    threads_ask(NULL);
    Py_CLEAR(hooks.on_fork);
    stamps_report_to(NULL);
    stamps_always = 0;
    if (imports_stop()) return NULL;
    Py_RETURN_NONE;
}

PyObject *hooks_on_stamp(PyObject *self, PyObject *callback) {
    (void)self;
    stamps_report_to(callback == Py_None ? NULL : callback);
    Py_RETURN_NONE;
}

PyObject *hooks_stamp_always(PyObject *self, PyObject *loop_id) {
    (void)self;
    unsigned long id = PyLong_AsUnsignedLong(loop_id);
    if (PyErr_Occurred()) return NULL;
    stamps_always = (uint32_t)id;
    Py_RETURN_NONE;
}
