/* What line events leave behind in code: places that make no event, and pairs that were split. */
#include "python/line_events.h"

#include <opcode.h>

#if HAS_MONITORING

/* ---- places ------------------------------------------------------------------------------------------ */

static int has_one_tool(PyCodeObject *code) {
    int tools = layout_line_listeners(code);
    return tools && !(tools & (tools - 1));
}

void line_event_remove(PyObject *object, int unit) {
    PyCodeObject *code = (PyCodeObject *)object;
    if (frames_are_public || !has_one_tool(code)) return;
    _Py_CODEUNIT *at = (_Py_CODEUNIT *)code_units(object) + unit;
    int replaced = layout_replaced_opcode(code, unit); /* 0 also in caches */
    if (at->op.code != INSTRUMENTED_LINE || !replaced || replaced == INSTRUMENTED_INSTRUCTION) return;
    layout_forget_listeners(code, unit);
    at->op.code = (uint8_t)replaced;
}

/* ---- pairs ------------------------------------------------------------------------------------------- */

#if PY_VERSION_HEX < 0x030d0000

static int joined(int first, int second) {
    switch (first << 8 | second) {
    case LOAD_CONST << 8 | LOAD_FAST: return LOAD_CONST__LOAD_FAST;
    case LOAD_FAST << 8 | LOAD_CONST: return LOAD_FAST__LOAD_CONST;
    case LOAD_FAST << 8 | LOAD_FAST: return LOAD_FAST__LOAD_FAST;
    case STORE_FAST << 8 | LOAD_FAST: return STORE_FAST__LOAD_FAST;
    case STORE_FAST << 8 | STORE_FAST: return STORE_FAST__STORE_FAST;
    }
    return 0;
}

/* `plain` has the same instructions without events, and 0 for caches: those are in no pair. */
static void join_pairs(_Py_CODEUNIT *at, const _Py_CODEUNIT *plain, Py_ssize_t units) {
    for (Py_ssize_t i = 0; i + 1 < units; i++) {
        int first = plain[i].op.code, second = plain[i + 1].op.code, both = joined(first, second);
        if (both && at[i].op.code == first && at[i + 1].op.code == second) at[i].op.code = (uint8_t)both;
    }
}

void line_events_join_pairs(PyObject *code) {
    if (frames_are_public) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *plain = PyCode_GetCode((PyCodeObject *)code);
    if (plain)
        join_pairs((_Py_CODEUNIT *)code_units(code), (_Py_CODEUNIT *)PyBytes_AS_STRING(plain),
                   Py_SIZE(code));
    Py_XDECREF(plain);
    PyErr_Restore(type, value, traceback);
}

#else

void line_events_join_pairs(PyObject *code) { (void)code; }

#endif
#endif
