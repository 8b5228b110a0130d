/* The module: what Python sees of the native core. */
#define _GNU_SOURCE
#include "python/compat.h"
#include "storage/append_file.h"
#include "wrappers/batches.h"
#include "lines/budget.h"
#include "calls/call_graph.h"
#include "calls/calls.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "interpreter/rests.h"
#include "wrappers/forward.h"
#include "lines/front.h"
#include "interpreter/functions.h"
#include "sampler/heartbeat.h"
#include "hooks/hooks.h"
#include "lines/line_log.h"
#include "lines/lines.h"
#include "lines/settled.h"
#include "module/module.h"
#include "wrappers/optimizers.h"
#include "wrappers/ranges.h"
#include "sampler/sampler.h"
#include "sampler/samples.h"
#include "storage/storage.h"
#include "wrappers/timed.h"
#include "hooks/tools.h"
#include "python/twins.h"
#include "python/untraced.h"
#include "traces/spill.h"
#include "traces/trace_events.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- clock -------------------------------------------------------------------------------------- */

static PyObject *py_ticks(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromUnsignedLongLong(ticks_now());
}

static PyObject *py_ticks_per_ns(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyFloat_FromDouble(clock_ticks_per_ns);
}

static PyObject *py_clock_triple(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    ClockTriple triple = clock_triple();
    return Py_BuildValue("KKK", triple.ticks, triple.monotonic_ns, triple.realtime_ns);
}

/* ---- storage ------------------------------------------------------------------------------------ */

static PyObject *py_storage_open(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *folder;
    unsigned long long max_bytes;
    int calls = 0;
    if (!PyArg_ParseTuple(args, "OK|p", &folder, &max_bytes, &calls)) return NULL;
    PyObject *path = NULL;
    if (folder != Py_None && !PyUnicode_FSConverter(folder, &path)) return NULL;
    lines_carry();
    sampler_begin();
    storage_close();
    int failed = storage_open(path ? PyBytes_AS_STRING(path) : NULL, (size_t)max_bytes, calls,
                              (uint32_t)clock_kind);
    Py_XDECREF(path);
    if (failed) return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, folder == Py_None ? NULL : folder);
    cost_slow_ticks = 0;
    rests_begin();
    lines_rebind();
    calls_rebind();
    Py_RETURN_NONE;
}

static PyObject *py_storage_close(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    lines_release(ticks_now());
    calls_end(ticks_now());
    lines_carry();
    storage_close();
    threads_rebind();
    Py_RETURN_NONE;
}

static PyObject *py_storage_is_open(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(storage_is_open);
}

static PyObject *py_storage_states(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    Stream *streams[] = {&events_stream, &lines_stream, &calls_stream};
    PyObject *states = PyTuple_New(3);
    for (Py_ssize_t i = 0; states && i < 3; i++) {
        int is_open = streams[i]->is_open;
        PyObject *state = Py_BuildValue("KI", (unsigned long long)(is_open ? streams[i]->used : 0),
                                        is_open ? streams[i]->state : STREAM_GROWING);
        if (state) PyTuple_SET_ITEM(states, i, state);
        else Py_CLEAR(states);
    }
    return states;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static PyObject *py_lines_register(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *code, *loops;
    unsigned int id, first_line, count;
    int exact;
    if (!PyArg_ParseTuple(args, "O!IIIO!p", &PyCode_Type, &code, &id, &first_line, &count,
                          &PyTuple_Type, &loops, &exact))
        return NULL;
    if (record_of(code)) Py_RETURN_TRUE;
    int made = record_make(code, id, first_line, count, loops, exact);
    if (made < 0) return NULL;
    if (made) front_ticks_resolve(code, record_of(code));
    return PyBool_FromLong(made);
}

/* The record of an argument that must be a registered code object; NULL with an exception set. */
static CodeRecord *record_arg(PyObject *code) {
    CodeRecord *record = PyCode_Check(code) ? record_of(code) : NULL;
    if (!record) PyErr_Format(PyExc_ValueError, "%R is not registered", code);
    return record;
}

static PyObject *py_lines_alias(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *code, *same_as;
    if (!PyArg_ParseTuple(args, "O!O!", &PyCode_Type, &code, &PyCode_Type, &same_as)) return NULL;
    CodeRecord *record = record_arg(same_as);
    if (!record || record_alias(code, record)) return NULL;
    front_ticks_resolve(code, record);
    Py_RETURN_NONE;
}

static PyObject *py_lines_forget(PyObject *self, PyObject *code) {
    (void)self;
    CodeRecord *record = record_arg(code);
    if (!record) return NULL;
    record_forget(code);
    Py_RETURN_NONE;
}

static PyObject *py_lines_is_registered(PyObject *self, PyObject *code) {
    (void)self;
    return PyBool_FromLong(PyCode_Check(code) && record_of(code) != NULL);
}

static PyObject *py_lines_read(PyObject *self, PyObject *code) {
    (void)self;
    CodeRecord *record = record_arg(code);
    PyObject *rows = record ? PyList_New(0) : NULL;
    for (uint32_t i = 0; rows && i < record->count; i++) {
        Line total = record->carried[i];
        if (record->lines) {
            Line *entry = record->lines + record->first_line + i;
            total.hits += entry->hits & HITS_MASK;
            total.ticks += entry->ticks;
            total.sampled += entry->sampled;
        }
        if (!total.hits && !total.ticks) continue;
        PyObject *row = Py_BuildValue("IKKK", record->first_line + i, total.hits, total.ticks, total.sampled);
        if (!row || PyList_Append(rows, row)) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

static PyObject *py_lines_calls(PyObject *self, PyObject *code) {
    (void)self;
    CodeRecord *record = record_arg(code);
    if (!record) return NULL;
    return PyLong_FromUnsignedLongLong(record->block ? record->block->calls : 0);
}

static PyObject *py_lines_set_exact(PyObject *self, PyObject *code) {
    (void)self;
    CodeRecord *record = record_arg(code);
    if (!record) return NULL;
    record->exact = 1;
    if (record->block) record->block->flags |= BLOCK_EXACT;
    Py_RETURN_NONE;
}

static PyObject *py_lines_thin(PyObject *self, PyObject *code) {
    (void)self;
    CodeRecord *record = record_arg(code);
    if (!record) return NULL;
    record_thin(record);
    Py_RETURN_NONE;
}

static PyObject *py_lines_start(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    front_ticks_rearm();
    lines_on = lines_way();
    Py_RETURN_NONE;
}

static PyObject *py_lines_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    lines_on = LINES_OFF;
    lines_release(ticks_now());
    Py_RETURN_NONE;
}

static PyObject *py_lines_sync(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    lines_sync(ticks_now());
    Py_RETURN_NONE;
}

static PyObject *py_lines_depth(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromSsize_t(this_thread && this_thread->base ? this_thread->top - this_thread->base : 0);
}

static PyObject *py_original_code(PyObject *self, PyObject *code) {
    (void)self;
    return Py_NewRef(twin_plain(code));
}

static PyObject *py_look_like(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *ticked, *plain, *places, *bare;
    if (!PyArg_ParseTuple(args, "O!O!SS", &PyCode_Type, &ticked, &PyCode_Type, &plain, &places, &bare))
        return NULL;
    if (twin_set(ticked, plain, places, bare)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_feed(PyObject *self, PyObject *args) {
    (void)self;
    int kind;
    unsigned long long frame, now;
    PyObject *code;
    unsigned int line;
    if (!PyArg_ParseTuple(args, "iKO!IK", &kind, &frame, &PyCode_Type, &code, &line, &now)) return NULL;
    CodeRecord *record = record_arg(code);
    if (!record) return NULL;
    if (kind != 1 && (line < record->first_line || line - record->first_line >= record->count))
        return PyErr_Format(PyExc_ValueError, "line %u is not in this code", line);
    void *address = (void *)(uintptr_t)frame;
    Activation *top = this_thread ? this_thread->top : NULL;
    int is_top = top && top->frame == address && top->code == code;
    if (kind == 2 && is_top && top->current == top->lines + line) Py_RETURN_NONE;
    if (kind == 1) exit_event(address, code, now);
    else if (kind == 3) line_resume(address, code, line, now, 0);
    else if (is_top) line_in_top(top, line, now);
    else line_enter(address, code, line, now, 0);
    Py_RETURN_NONE;
}

/* ---- the rest ----------------------------------------------------------------------------------- */

static PyObject *py_heartbeat_start(PyObject *self, PyObject *args) {
    (void)self;
    HeartbeatOptions options = {0};
    PyObject *on_second = Py_None;
    options.full_s = FULL_RECORDING_S;
    if (!PyArg_ParseTuple(args, "iddp|Odd", &options.interval_ms, &options.budget_share,
                          &options.event_cost_ns, &options.thin, &on_second, &options.full_s,
                          &options.exit_cost_ns))
        return NULL;
    if (!options.exit_cost_ns) options.exit_cost_ns = options.event_cost_ns;
    options.on_second = on_second == Py_None ? NULL : on_second;
    budget_begin(ticks_now());
    if (heartbeat_start(options)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_heartbeat_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    heartbeat_stop();
    Py_RETURN_NONE;
}

static PyObject *py_heartbeat_pause(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    heartbeat_pause();
    Py_RETURN_NONE;
}

static PyObject *py_heartbeat_resume_soon(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    heartbeat_resume_soon();
    Py_RETURN_NONE;
}

static PyObject *py_die_with_parent(PyObject *self, PyObject *args) {
    (void)self;
    int parent;
    if (!PyArg_ParseTuple(args, "i", &parent)) return NULL;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL)) return PyErr_SetFromErrno(PyExc_OSError);
    return PyBool_FromLong(getppid() == parent); /* it may have gone before the call */
}

static PyMethodDef functions[] = {
    NOARGS("ticks", py_ticks),
    NOARGS("ticks_per_ns", py_ticks_per_ns),
    NOARGS("clock_triple", py_clock_triple),
    ARGS("storage_open", py_storage_open),
    NOARGS("storage_close", py_storage_close),
    NOARGS("storage_is_open", py_storage_is_open),
    NOARGS("storage_states", py_storage_states),
    ARGS("lines_register", py_lines_register),
    ARGS("lines_alias", py_lines_alias),
    ONE("lines_forget", py_lines_forget),
    ONE("lines_is_registered", py_lines_is_registered),
    ONE("lines_read", py_lines_read),
    ONE("lines_calls", py_lines_calls),
    ONE("lines_set_exact", py_lines_set_exact),
    ONE("lines_thin", py_lines_thin),
    NOARGS("lines_settle", lines_settle_now),
    NOARGS("lines_start", py_lines_start),
    NOARGS("lines_stop", py_lines_stop),
    NOARGS("lines_sync", py_lines_sync),
    NOARGS("lines_depth", py_lines_depth),
    ARGS("lines_log", line_log_switch),
    ONE("original_code", py_original_code),
    ARGS("look_like", py_look_like),
    NOARGS("monitoring_callbacks", front_monitoring_callbacks),
    ARGS("tool_lend", tools_lend),
    ONE("tool_take_back", tools_take_back),
    ARGS("make_tick", front_make_tick),
    ARGS("feed", py_feed),
    NOARGS("calls_start", calls_start),
    ONE("calls_attach", calls_attach),
    NOARGS("calls_detach", calls_detach),
    NOARGS("calls_stop", calls_stop),
    NOARGS("calls_callbacks", calls_callbacks),
    NOARGS("calls_read", calls_read),
    ARGS("calls_feed", calls_feed),
    KEYWORDS("hooks_start", hooks_start),
    NOARGS("hooks_stop", hooks_stop),
    NOARGS("others_ran", hooks_others_ran),
    ONE("on_stamp", hooks_on_stamp),
    ONE("stamp_always", hooks_stamp_always),
    {"gc_callback", (PyCFunction)(void *)hooks_gc_callback, METH_FASTCALL, NULL},
    ARGS("heartbeat_start", py_heartbeat_start),
    NOARGS("heartbeat_stop", py_heartbeat_stop),
    NOARGS("heartbeat_pause", py_heartbeat_pause),
    NOARGS("heartbeat_resume_soon", py_heartbeat_resume_soon),
    ONE("functions_hook", functions_on),
    ARGS("samples_feed", samples_feed),
    ONE("find_handlers_with", untraced_find_handlers_with),
    ARGS("die_with_parent", py_die_with_parent),
    ONE("trace_events", trace_events),
    ARGS("spill_to", spill_to),
    NOARGS("spill_sizes", spill_sizes),
    NOARGS("spill_stop", spill_stop),
    {NULL, NULL, 0, NULL},
};

/* What is recorded is the process, once. 3.12 and later refuse by themselves, in these words, unless
   they are asked not to check. */
static int is_main_interpreter(void) {
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) return 1;
    PyErr_SetString(PyExc_ImportError, "module stepscope.native._core does not support loading in subinterpreters");
    return 0;
}

static void on_loss(char *from, char *end) {
    lines_lost(from, end);
    calls_lost(from, end);
}

static int module_exec(PyObject *module) {
    if (!is_main_interpreter()) return -1;
    clock_setup();
    storage_on_loss = on_loss;
    if (frames_ready(module)) return -1;
    threads_open_after_fork = hooks_open_after_fork;
    if (PyModule_AddFunctions(module, event_functions)) return -1;
    if (front_ticks_ready() || call_graph_ready(module) || append_file_ready(module)) return -1;
    if (timed_ready(module) || ranges_ready(module) || batches_ready(module)) return -1;
    if (forward_ready(module) || optimizers_ready(module)) return -1;
    return PyModule_AddIntConstant(module, "CLOCK_KIND", clock_kind);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "stepscope.native._core",
    .m_doc = "The native core: clock, mapped storage, line engine, hooks, heartbeat.",
    .m_size = 0, .m_methods = functions, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
