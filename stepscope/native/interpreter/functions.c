/* Functions: the ids of code objects are in their notes, those of builtins in a table by method. */
#include "interpreter/functions.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "python/untraced.h"

#include <stdlib.h>

uint32_t functions_generation = 1; /* 0: never named */
__thread uint64_t functions_asking_ticks __attribute__((tls_model("initial-exec")));
static PyObject *on_function; /* owned */

static uint32_t ask(PyObject *function) {
    if (!on_function) return 0;
    uint64_t began = ticks_now(), slow = slow_path_begin();
    uint32_t number = untraced_number(on_function, &function, 1);
    slow_path_end(slow);
    functions_asking_ticks += ticks_now() - began;
    return number;
}

uint32_t function_of_code(PyObject *code) {
    uint32_t id;
    if (function_look_up(code, &id)) return id;
    id = ask(code);
    CodeNotes *notes = on_function ? code_notes_for(code) : NULL; /* only now: asking runs Python */
    if (notes) notes->function = (uint64_t)functions_generation << 32 | id;
    return id;
}

int function_is_known(PyObject *code) {
    uint32_t id;
    return function_look_up(code, &id);
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

PyObject *function_bound(PyObject *builtin, PyObject *self) {
    if (PyCFunction_Check(builtin)) return Py_NewRef(builtin);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *bound = Py_TYPE(builtin)->tp_descr_get(builtin, self, (PyObject *)Py_TYPE(self));
    if (bound && !PyCFunction_Check(bound)) Py_CLEAR(bound);
    PyErr_Restore(type, value, traceback);
    return bound;
}

static uint32_t ask_bound(PyObject *builtin, PyObject *self) {
    PyObject *bound = function_bound(builtin, self);
    uint32_t id = bound ? ask(bound) : 0;
    Py_XDECREF(bound);
    return id;
}

uint32_t function_of_builtin(PyObject *builtin) {
    return function_of_method(((PyCFunctionObject *)builtin)->m_ml, builtin, NULL);
}

uint32_t function_of_method(PyMethodDef *method, PyObject *builtin, PyObject *self) {
    if (2 * used >= room && grow()) return 0;
    Slot *slot = find(table, room, method);
    if (LIKELY(slot->method != NULL)) return slot->id;
    uint32_t id = ask_bound(builtin, self); /* may run Python and so grow the table */
    if (2 * used >= room && grow()) return id;
    slot = find(table, room, method);
    if (!slot->method) used++;
    *slot = (Slot){method, id};
    return id;
}

void functions_hook(PyObject *hook) {
    Py_XINCREF(hook);
    Py_XSETREF(on_function, hook);
    functions_generation++;
    free(table);
    table = NULL;
    room = used = 0;
}

PyObject *functions_on(PyObject *self, PyObject *hook) {
    (void)self;
    functions_hook(hook == Py_None ? NULL : hook);
    Py_RETURN_NONE;
}
