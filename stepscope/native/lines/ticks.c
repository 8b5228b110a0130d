/* Front end of the line engine on 3.11: constants in the bytecode whose `~` is an event.

   `LOAD_CONST tick; UNARY_INVERT; POP_TOP` costs 18 ns. A place that is no longer wanted turns its
   own LOAD_CONST into a jump over the tick: 1 ns remains. That is what returning DISABLE does on
   3.12. */
#include "lines/front.h"
#include "lines/lines.h"

#include <string.h>

#if !HAS_MONITORING

#include <opcode.h>

enum { TICK_LINE = 0, TICK_EXIT = 1, TICK_CHANGED = 2, TICK_RESUME = 3, TICK_KINDS = 4 };

typedef struct {
    PyObject_HEAD
    CodeRecord *record; /* NULL until its code is registered */
    uint32_t code_id;
    uint32_t line;
} Tick;

/* ---- switching a place off --------------------------------------------------------------------- */

typedef struct {
    PyObject *code;      /* owned: keeps `at` valid */
    _Py_CODEUNIT *at;
    _Py_CODEUNIT before;
} Patch;

static Patch *patches;
static size_t patch_count, patch_room;

static int remember(PyObject *code, _Py_CODEUNIT *at) {
    if (patch_count == patch_room) {
        size_t room = patch_room ? patch_room * 2 : 256;
        Patch *more = PyMem_RawRealloc(patches, room * sizeof *more);
        if (!more) return -1;
        patches = more;
        patch_room = room;
    }
    patches[patch_count++] = (Patch){Py_NewRef(code), at, *at};
    return 0;
}

/* prev_instr is at the UNARY_INVERT. Under the GIL the interpreter rewrites its instructions in
   place too; it reads each unit again. A LOAD_FAST before may have been fused with our LOAD_CONST
   and would then take the jump's argument for a constant: it is split again first. */
static void switch_off(Frame *frame) {
    _Py_CODEUNIT *invert = frame->prev_instr, *load = invert - 1;
    if (_Py_OPCODE(*invert) != UNARY_INVERT || _Py_OPCODE(*load) != LOAD_CONST) return;
    _Py_CODEUNIT *first = _PyCode_CODE(frame->f_code);
    int over = 2;
    while (load > first && _Py_OPCODE(load[-1]) == EXTENDED_ARG) load--, over++;
    if (remember((PyObject *)frame->f_code, load)) return;
    if (load > first && _Py_OPCODE(load[-1]) == LOAD_FAST__LOAD_CONST)
        load[-1] = _Py_MAKECODEUNIT(LOAD_FAST, _Py_OPARG(load[-1]));
    *load = _Py_MAKECODEUNIT(JUMP_FORWARD, over);
}

void front_ticks_rearm(void) {
    while (patch_count) {
        Patch *patch = &patches[--patch_count];
        *patch->at = patch->before;
        Py_DECREF(patch->code);
    }
}

/* ---- the ticks ----------------------------------------------------------------------------------- */

static inline PyObject *answer(Place place, Frame *frame) {
    if (UNLIKELY(place == PLACE_RAISE)) return NULL;
    if (UNLIKELY(place == PLACE_OFF)) switch_off(frame);
    Py_RETURN_NONE;
}

static PyObject *tick_line(PyObject *self) {
    Tick *tick = (Tick *)self;
    Frame *frame = current_frame();
    if (UNLIKELY(!lines_on || !tick->record)) return answer(PLACE_OFF, frame);
    return answer(line_event(frame, (PyObject *)frame->f_code, tick->line, ticks_now()), frame);
}

/* Where an exception lands on a line it may have come from. */
static PyObject *tick_changed(PyObject *self) {
    Tick *tick = (Tick *)self;
    Frame *frame = current_frame();
    Thread *thread = this_thread;
    if (lines_on && thread && thread->top && thread->top->frame == (void *)frame &&
        thread->top->current == thread->top->lines + tick->line)
        Py_RETURN_NONE;
    return tick_line(self);
}

static PyObject *tick_exit(PyObject *self) {
    Tick *tick = (Tick *)self;
    Frame *frame = current_frame();
    if (UNLIKELY(!lines_on || !tick->record)) return answer(PLACE_OFF, frame);
    return answer(exit_event(frame, (PyObject *)frame->f_code, ticks_now()), frame);
}

static PyObject *tick_resume(PyObject *self) {
    Tick *tick = (Tick *)self;
    Frame *frame = current_frame();
    if (UNLIKELY(!lines_on || !tick->record)) return answer(PLACE_OFF, frame);
    return answer(line_resume(frame, (PyObject *)frame->f_code, tick->line, ticks_now(), 1), frame);
}

static PyObject *tick_repr(PyObject *self) {
    return PyUnicode_FromFormat("<%s of line %u>", Py_TYPE(self)->tp_name, ((Tick *)self)->line);
}

/* ---- their types: one per kind, so that `~` needs no switch --------------------------------------- */

static PyNumberMethods numbers[TICK_KINDS] = {
    {.nb_invert = tick_line},
    {.nb_invert = tick_exit},
    {.nb_invert = tick_changed},
    {.nb_invert = tick_resume},
};

#define TICK_TYPE(name, kind)                                                             \
    {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native." name,                   \
     .tp_basicsize = sizeof(Tick), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, \
     .tp_as_number = &numbers[kind], .tp_repr = tick_repr}

static PyTypeObject tick_types[TICK_KINDS] = {
    TICK_TYPE("LineTick", TICK_LINE),
    TICK_TYPE("ExitTick", TICK_EXIT),
    TICK_TYPE("ChangedTick", TICK_CHANGED),
    TICK_TYPE("ResumeTick", TICK_RESUME),
};

int front_ticks_ready(void) {
    for (int kind = 0; kind < TICK_KINDS; kind++)
        if (PyType_Ready(&tick_types[kind])) return -1;
    return 0;
}

PyObject *front_make_tick(PyObject *self, PyObject *args) {
    (void)self;
    unsigned int code_id, line;
    int kind;
    if (!PyArg_ParseTuple(args, "IiI", &code_id, &kind, &line)) return NULL;
    if (kind < 0 || kind >= TICK_KINDS) return PyErr_Format(PyExc_ValueError, "no tick of kind %d", kind);
    Tick *tick = PyObject_New(Tick, &tick_types[kind]);
    if (!tick) return NULL;
    tick->record = NULL;
    tick->code_id = code_id;
    tick->line = line;
    return (PyObject *)tick;
}

static int is_tick(PyObject *object) {
    return Py_TYPE(object) >= &tick_types[0] && Py_TYPE(object) <= &tick_types[TICK_KINDS - 1];
}

void front_ticks_resolve(PyObject *code, CodeRecord *record) {
    PyObject *constants = ((PyCodeObject *)code)->co_consts;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++) {
        PyObject *constant = PyTuple_GET_ITEM(constants, i);
        if (!is_tick(constant)) continue;
        Tick *tick = (Tick *)constant;
        int is_exit = Py_TYPE(constant) == &tick_types[TICK_EXIT]; /* of no line */
        if (is_exit || (tick->line >= record->first_line && tick->line - record->first_line < record->count))
            tick->record = record;
    }
}

#else

int front_ticks_ready(void) { return 0; }
void front_ticks_resolve(PyObject *code, CodeRecord *record) { (void)code, (void)record; }
void front_ticks_rearm(void) {}

PyObject *front_make_tick(PyObject *self, PyObject *args) {
    (void)self, (void)args;
    PyErr_SetString(PyExc_RuntimeError, "ticks are Python 3.11's; this one has sys.monitoring");
    return NULL;
}

#endif
