/* Live code: addresses by hash, removed as the interpreter frees a code object. */
#include "sampler/live_code.h"
#include "lines/lines.h"

enum { ROOM = 8192, RECORDS_AT_MOST = 4096 };

/* An entry that was overwritten by another is added again when it is next seen. */
static PyObject *live[ROOM];
static Py_ssize_t extra_index = -1; /* its slot in a code object holds the object's own address */

static PyObject **place_of(const void *address) {
    return &live[((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15ull >> 51];
}

static void gone(void *code) {
    PyObject **place = place_of(code);
    if (*place == code) *place = NULL;
}

void live_code_add(PyObject *code) {
    PyObject **place = place_of(code);
    if (LIKELY(*place == code)) return;
    if (extra_index < 0 && (extra_index = code_extra_index_with(gone)) < 0) return;
    if (code_extra_get(code, extra_index) != code && code_extra_set(code, extra_index, code)) {
        PyErr_Clear();
        return;
    }
    *place = code;
}

/* The user's own code is registered before it runs, and stays alive with its record. */
int live_code_at(const void *address) {
    if (!address) return 0;
    if (LIKELY(*place_of(address) == address)) return 1;
    int looked = 0;
    for (CodeRecord *record = all_records; record && looked < RECORDS_AT_MOST; record = record->next) {
        looked++;
        if (record->code != address) continue;
        live_code_add(record->code);
        return 1;
    }
    return 0;
}
