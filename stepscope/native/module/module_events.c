/* Events and spans, as Python calls them. */
#include "module/module.h"
#include "clock/clock.h"
#include "interpreter/events.h"
#include "lines/counters.h"
#include "hooks/prints.h"
#include "wrappers/ranges.h"

#include <string.h>

static PyObject *py_step_mark(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)self;
    static char *names[] = {"who", "samples", "name", "start", NULL};
    unsigned int who = STEP_SCRIPT, name = 0;
    unsigned long long samples = 0, start = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$IKIK", names, &who, &samples, &name, &start))
        return NULL;
    Event mark = {.name = name, .start = start ? start : ticks_now(), .extra = who, .value0 = samples};
    return PyLong_FromUnsignedLongLong(event_add(EVENT_STEP, mark));
}

static PyObject *py_window(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)self;
    static char *names[] = {"name", "start", "end", "is_scripts", NULL};
    unsigned int name;
    unsigned long long start, end;
    int is_scripts = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "IKK|$p", names, &name, &start, &end, &is_scripts))
        return NULL;
    Event window = {.name = name, .start = start, .end = end, .extra = (uint32_t)is_scripts};
    return PyLong_FromUnsignedLongLong(event_add(EVENT_WINDOW, window));
}

static PyObject *py_past_span(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)self;
    static char *names[] = {"name", "category", "start", "end", "number", "group", NULL};
    unsigned int name, category, group = 0;
    unsigned long long start, end, number = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "IIKK|$KI", names, &name, &category, &start, &end,
                                     &number, &group))
        return NULL;
    Event span = {.name = name, .start = start, .end = end, .extra = category, .value0 = number,
                  .value1 = group};
    return PyLong_FromUnsignedLongLong(event_add(EVENT_SPAN, span));
}

static PyObject *py_loss(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)self;
    static char *names[] = {"name", "start", "value", "flags", NULL};
    unsigned int name, flags = 0;
    unsigned long long start;
    double value;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "IKd|$I", names, &name, &start, &value, &flags))
        return NULL;
    Event loss = {.name = name, .start = start, .extra = flags};
    memcpy(&loss.value0, &value, sizeof value);
    return PyLong_FromUnsignedLongLong(event_add(EVENT_LOSS, loss));
}

/* ---- spans: several in each step of the training, so their arguments are read by hand ---------------- */

/* The arguments as numbers, cut to 64 bits; those that are absent are 0. -1: an error is set. */
static int read_numbers(PyObject *const *args, Py_ssize_t count, Py_ssize_t least, Py_ssize_t most,
                        uint64_t *numbers) {
    if (count < least || count > most) {
        PyErr_Format(PyExc_TypeError, "%zd to %zd numbers are needed, not %zd", least, most, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < most; i++) {
        numbers[i] = i < count ? PyLong_AsUnsignedLongLongMask(args[i]) : 0;
        if (numbers[i] == (uint64_t)-1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

static Event span_of(const uint64_t *numbers, uint64_t start) {
    return (Event){.name = (uint32_t)numbers[0], .extra = (uint32_t)numbers[1], .value0 = numbers[2],
                   .value1 = numbers[3], .start = start};
}

static PyObject *py_span_begin(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    uint64_t now = ticks_now(), numbers[5];
    if (read_numbers(args, count, 2, 5, numbers)) return NULL;
    Event span = span_of(numbers, numbers[4] ? numbers[4] : now);
    return PyLong_FromUnsignedLongLong(event_span_add(span));
}

static PyObject *py_span_end(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    uint64_t now = ticks_now(), numbers[2];
    if (read_numbers(args, count, 1, 2, numbers)) return NULL;
    Event *span = event_span_at(numbers[0]);
    if (span && numbers[1]) span->value0 = numbers[1];
    event_span_end(numbers[0], now);
    Py_RETURN_NONE;
}

static PyObject *py_range_span(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    uint64_t now = ticks_now(), numbers[4];
    if (read_numbers(args, count, 2, 4, numbers)) return NULL;
    return PyLong_FromUnsignedLongLong(range_span(span_of(numbers, now)));
}

static PyObject *py_span_drop(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long offset;
    if (!PyArg_ParseTuple(args, "K", &offset)) return NULL;
    Event *span = event_span_at(offset);
    if (span) span->end = span->start;
    Py_RETURN_NONE;
}

static PyObject *py_span_rename(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long offset;
    unsigned int name;
    if (!PyArg_ParseTuple(args, "KI", &offset, &name)) return NULL;
    Event *span = event_span_at(offset);
    if (span) span->name = name;
    Py_RETURN_NONE;
}

static PyObject *py_prints_start(PyObject *self, PyObject *name) {
    (void)self;
    unsigned long id = PyLong_AsUnsignedLong(name);
    if (PyErr_Occurred() || prints_start((uint32_t)id)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_prints_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (prints_stop()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_counters(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    event_clock();
    event_counters();
    Py_RETURN_NONE;
}

static PyObject *py_passes(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromUnsignedLongLong(events_of_passes);
}

PyMethodDef event_functions[] = {
    KEYWORDS("step_mark", py_step_mark),
    KEYWORDS("window", py_window),
    KEYWORDS("past_span", py_past_span),
    KEYWORDS("loss", py_loss),
    FAST("span_begin", py_span_begin),
    FAST("span_end", py_span_end),
    ARGS("span_drop", py_span_drop),
    ARGS("span_rename", py_span_rename),
    FAST("range_span", py_range_span),
    ONE("prints_start", py_prints_start),
    NOARGS("prints_stop", py_prints_stop),
    NOARGS("counters", py_counters),
    NOARGS("passes", py_passes),
    {NULL, NULL, 0, NULL},
};
