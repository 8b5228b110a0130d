/* Reporting the iterations of stamped loops to the recording, which may end the script. */
#include "lines/stamps.h"
#include "python/untraced.h"

uint32_t stamps_always;

static PyObject *on_stamp; /* owned, or NULL */

void stamps_report_to(PyObject *listener) { Py_XSETREF(on_stamp, Py_XNewRef(listener)); }

/* The only call of ours whose exception may reach the user's code: the end of --steps. */
static Place report(uint32_t loop_id, uint64_t now, uint32_t line_before) {
    PyObject *listener = Py_NewRef(on_stamp); /* it may be replaced while it runs */
    PyObject *args[] = {PyLong_FromUnsignedLong(loop_id), PyLong_FromUnsignedLongLong(now),
                        PyLong_FromUnsignedLong(line_before)};
    PyObject *result = args[0] && args[1] && args[2] ? untraced_raising(listener, args, 3) : NULL;
    for (int i = 0; i < 3; i++) Py_XDECREF(args[i]);
    Py_DECREF(listener);
    if (!result) return PLACE_RAISE;
    Py_DECREF(result);
    return PLACE_KEEP;
}

Place stamp_report(uint32_t loop_id, uint64_t now, uint32_t line_before) {
    return LIKELY(!on_stamp) ? PLACE_KEEP : report(loop_id, now, line_before);
}
