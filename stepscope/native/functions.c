/* Functions: code objects carry their id in an extra slot, builtins in a table by method. */
#include "functions.h"
#include "hooks.h"

#include <stdlib.h>

/* The slot holds generation << 32 | id: ids of an earlier recording do not count. The slot goes
   with its code object, so nothing is kept alive. */
static Py_ssize_t extra_index = -1;
static uint32_t generation;
static PyObject *on_function; /* owned */

static uint32_t ask(PyObject *function) {
    if (!on_function) return 0;
    PyObject *id = hooks_call(on_function, &function, 1);
    uint32_t number = id && PyLong_Check(id) ? (uint32_t)PyLong_AsUnsignedLongMask(id) : 0;
    Py_XDECREF(id);
    return number;
}

uint32_t function_of_code(PyObject *code) {
    if (UNLIKELY(extra_index < 0) && (extra_index = code_extra_index()) < 0) return 0;
    uint64_t slot = (uint64_t)(uintptr_t)code_extra_get(code, extra_index);
    if (LIKELY(slot >> 32 == generation)) return (uint32_t)slot;
    uint32_t id = ask(code);
    slot = (uint64_t)generation << 32 | id;
    if (id && code_extra_set(code, extra_index, (void *)(uintptr_t)slot)) PyErr_Clear();
    return id;
}

/* ---- builtins: open addressing by the address of their method definition ------------------------ */

typedef struct {
    PyMethodDef *method;
    uint32_t id;
} Slot;

static Slot *table;
static size_t room, used; /* room is a power of two */

static Slot *find(Slot *slots, size_t size, PyMethodDef *method) {
    size_t at = ((uintptr_t)method >> 4) * 0x9E3779B97F4A7C15ull & (size - 1);
    while (slots[at].method && slots[at].method != method) at = (at + 1) & (size - 1);
    return &slots[at];
}

static int grow(void) {
    size_t wider = room ? room * 2 : 1024;
    Slot *slots = calloc(wider, sizeof *slots);
    if (!slots) return -1;
    for (size_t i = 0; i < room; i++)
        if (table[i].method) *find(slots, wider, table[i].method) = table[i];
    free(table);
    table = slots;
    room = wider;
    return 0;
}

uint32_t function_of_builtin(PyObject *builtin) {
    PyMethodDef *method = ((PyCFunctionObject *)builtin)->m_ml;
    if (2 * used >= room && grow()) return 0;
    Slot *slot = find(table, room, method);
    if (LIKELY(slot->method != NULL)) return slot->id;
    uint32_t id = ask(builtin); /* may run Python and so grow the table */
    if (2 * used >= room && grow()) return id;
    slot = find(table, room, method);
    if (!slot->method) used++;
    *slot = (Slot){method, id};
    return id;
}

void functions_hook(PyObject *hook) {
    Py_XINCREF(hook);
    Py_XSETREF(on_function, hook);
    generation++;
    free(table);
    table = NULL;
    room = used = 0;
}
