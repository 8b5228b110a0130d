/* Front end of the line engine on 3.11: constants in the bytecode whose `~` is an event.

   `LOAD_CONST tick; UNARY_INVERT; POP_TOP` costs 18 ns. A place that is no longer wanted is switched
   off (bare.c), as by returning DISABLE on 3.12. */
#include "lines/bare.h"
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

/* ---- the ticks ----------------------------------------------------------------------------------- */

static inline PyObject *answer(Place place, Frame *frame) {
    if (UNLIKELY(place == PLACE_RAISE)) return NULL;
    if (UNLIKELY(place == PLACE_OFF)) bare_switch_off(frame);
    Py_RETURN_NONE;
}

static NEVER_INLINE PyObject *tick_line_slowly(Tick *tick, Frame *frame) {
    if (UNLIKELY(!lines_on || !tick->record)) return answer(PLACE_OFF, frame);
    return answer(line_event(frame, (PyObject *)frame->f_code, tick->line, ticks_now()), frame);
}

static PyObject *tick_line(PyObject *self) {
    Tick *tick = (Tick *)self;
    Frame *frame = current_frame();
    Activation *top = line_short_top(frame, frame->f_code);
    if (UNLIKELY(!top || !tick->record || line_in_short_top(top, tick->line, ticks_of_counter())))
        return tick_line_slowly(tick, frame);
    Py_RETURN_NONE;
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

uint32_t tick_line_at(PyObject *code, const _Py_CODEUNIT *at) {
    unsigned index = _Py_OPARG(*at);
    while (_Py_OPCODE(*at) == EXTENDED_ARG) index = index << 8 | _Py_OPARG(*++at);
    if (_Py_OPCODE(*at) != LOAD_CONST) return 0; /* it is off */
    PyObject *constant = PyTuple_GET_ITEM(((PyCodeObject *)code)->co_consts, index);
    if (!Py_IS_TYPE(constant, &tick_types[TICK_LINE]) || !((Tick *)constant)->record) return 0;
    return ((Tick *)constant)->line;
}

void front_ticks_rearm(void) { bare_rearm(); }
void front_ticks_traced(PyObject *code) { bare_leave(code); }

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
void front_ticks_traced(PyObject *code) { (void)code; }

PyObject *front_make_tick(PyObject *self, PyObject *args) {
    (void)self, (void)args;
    PyErr_SetString(PyExc_RuntimeError, "ticks are Python 3.11's; this one has sys.monitoring");
    return NULL;
}

#endif
