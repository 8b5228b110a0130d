/* The events of a trace in JSON as rows of numbers: see trace_events.h. */
#define _GNU_SOURCE
#include "traces/trace_events.h"
#include "traces/trace_texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    TraceRow *rows; /* owned */
    size_t count, room;
    Texts texts;
} Rows;

/* The texts of an event, until its row is complete. */
typedef struct {
    Slice name, category, process, thread, dims, types, concrete, args_name;
} Parts;

#define IS(key, word) ((key).size == sizeof(word) - 1 && !memcmp((key).start, word, sizeof(word) - 1))

/* ---- fields ------------------------------------------------------------------------------------- */

static const char *scalar(const char *at, Slice *found) {
    return strchr("[{tf", *at) ? NULL : json_value(at, found);
}

static const char *text_or_null(const char *at, Slice *found) {
    if (*at == '"') return json_string(at, found);
    at = json_value(at, found);
    int is_null = at && IS(*found, "null");
    *found = (Slice){0};
    return is_null ? at : NULL;
}

static const char *text_or_nothing(const char *at, Slice *found) {
    Slice other;
    *found = (Slice){0};
    return *at == '"' ? json_string(at, found) : json_value(at, &other);
}

/* It has two names; the one in newer traces wins. */
static const char *external(const char *at, TraceRow *row, int overrules) {
    int64_t value;
    at = json_whole(at, &value);
    if (at && (overrules ? value >= 0 : row->external < 0)) row->external = value;
    return at;
}

static const char *argument(const char *at, Slice key, TraceRow *row, Parts *parts) {
    Slice unread;
    switch (key.size) {
    case 4:
        if (IS(key, "Addr")) return json_whole(at, &row->address);
        if (IS(key, "name")) return text_or_nothing(at, &parts->args_name);
        break;
    case 5:
        if (IS(key, "Bytes")) return json_whole(at, &row->bytes);
        if (IS(key, "bytes")) return json_whole(at, &row->copied_bytes);
        break;
    case 6:
        if (IS(key, "stream")) return json_whole(at, &row->stream);
        if (IS(key, "device")) return json_whole(at, &row->device);
        break;
    case 10:
        if (IS(key, "Input Dims")) return json_value(at, &parts->dims);
        if (IS(key, "Input type")) return json_value(at, &parts->types);
        break;
    case 11:
        if (IS(key, "External id")) return external(at, row, 1);
        if (IS(key, "external id")) return external(at, row, 0);
        if (IS(key, "correlation")) return json_whole(at, &row->correlation);
        if (IS(key, "Device Type")) return json_whole(at, &row->device_type);
        break;
    case 15:
        if (IS(key, "Sequence number")) return json_whole(at, &row->sequence);
        if (IS(key, "Concrete Inputs")) return json_value(at, &parts->concrete);
        break;
    }
    return json_value(at, &unread);
}

static int is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static const char *phase(const char *at, TraceRow *row) {
    Slice found;
    at = json_string(at, &found);
    if (!at || memchr(found.start, '\\', found.size)) return NULL;
    row->phase = found.size == 1 && is_letter(found.start[0]) ? (uint8_t)found.start[0] : 0;
    return at;
}

/* ---- objects ------------------------------------------------------------------------------------ */

/* Moves to the next key of an object, or past its end: then `key` has no start. `at` is after the
   brace or a value. */
static const char *next_key(const char *at, int is_first, Slice *key) {
    at = json_blank(at);
    *key = (Slice){0};
    if (*at == '}') return at + 1;
    if (!is_first) {
        if (*at != ',') return NULL;
        at = json_blank(at + 1);
    }
    return json_key(at, key);
}

static const char *arguments(const char *at, TraceRow *row, Parts *parts) {
    Slice key;
    if (*at == 'n') return json_value(at, &key);
    if (*at++ != '{') return NULL;
    for (int is_first = 1; (at = next_key(at, is_first, &key)) && key.start; is_first = 0)
        if (!(at = argument(at, key, row, parts))) return NULL;
    return at;
}

static const char *field(const char *at, Slice key, TraceRow *row, Parts *parts) {
    Slice unread;
    if (IS(key, "ts")) return json_real(at, &row->ts_us);
    if (IS(key, "dur")) return json_real(at, &row->dur_us);
    if (IS(key, "ph")) return phase(at, row);
    if (IS(key, "pid")) return scalar(at, &parts->process);
    if (IS(key, "tid")) return scalar(at, &parts->thread);
    if (IS(key, "cat")) return text_or_null(at, &parts->category);
    if (IS(key, "name")) return json_string(at, &parts->name);
    if (IS(key, "args")) return arguments(at, row, parts);
    if (IS(key, "id")) return json_whole(at, &row->id);
    return json_value(at, &unread);
}

static const char *event(const char *at, TraceRow *row, Parts *parts) {
    Slice key;
    *row = (TraceRow){.ts_us = NAN, .external = -1, .correlation = -1, .sequence = -1, .stream = -1, .device = -1,
                      .id = -1, .name = -1, .category = -1, .thread = -1, .shapes = -1,
                      .args_name = -1};
    *parts = (Parts){0};
    if (*at++ != '{') return NULL;
    for (int is_first = 1; (at = next_key(at, is_first, &key)) && key.start; is_first = 0)
        if (!(at = field(at, key, row, parts))) return NULL;
    return at;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static int add(Texts *texts, Slice piece) { return texts_add(texts, piece.start, piece.size); }

static int is_convolution(Slice name) {
    return name.size && memmem(name.start, name.size, "conv", 4) != NULL;
}

/* -1: no memory. */
static int number_texts(Texts *texts, TraceRow *row, const Parts *parts) {
    static const Slice null = {"null", 4};
    if (add(texts, parts->name) || (row->name = texts_number(texts)) < 0) return -1;
    if (parts->category.start)
        if (add(texts, parts->category) || (row->category = texts_number(texts)) < 0) return -1;
    if (add(texts, parts->process.start ? parts->process : null) || texts_add(texts, ",", 1) ||
        add(texts, parts->thread.start ? parts->thread : null) ||
        (row->thread = texts_number(texts)) < 0)
        return -1;
    if (row->phase == 'M' && parts->args_name.start)
        if (add(texts, parts->args_name) || (row->args_name = texts_number(texts)) < 0) return -1;
    if (row->phase != 'X') return 0;
    Slice concrete = is_convolution(parts->name) ? parts->concrete : (Slice){0};
    if (add(texts, parts->dims) || texts_add(texts, "", 1) || add(texts, parts->types) ||
        texts_add(texts, "", 1) || add(texts, concrete) || (row->shapes = texts_number(texts)) < 0)
        return -1;
    return 0;
}

static TraceRow *next_row(Rows *rows) {
    if (rows->count == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 1024;
        TraceRow *larger = realloc(rows->rows, room * sizeof *larger);
        if (!larger) return NULL;
        rows->rows = larger;
        rows->room = room;
    }
    return rows->rows + rows->count;
}

/* Comma-separated events, with commas also allowed before the first and after the last. Returns how
   much of the text was read; -1: no memory. */
static Py_ssize_t read_rows(const char *text, Py_ssize_t size, Rows *rows) {
    const char *at = text, *end = text + size, *used = text;
    Parts parts;
    for (;;) {
        at = json_blank(at);
        while (*at == ',') at = json_blank(at + 1);
        if (at == end) return size;
        TraceRow *row = next_row(rows);
        if (!row) return -1;
        if (!(at = event(at, row, &parts))) break;
        if (number_texts(&rows->texts, row, &parts)) return -1;
        rows->count++;
        used = at;
        at = json_blank(at);
        if (at == end) return size;
        if (*at != ',') break;
    }
    return used - text;
}

static PyObject *list_of(const Texts *texts) {
    PyObject *list = PyList_New(texts->count);
    for (int32_t i = 0; list && i < texts->count; i++) {
        const HeldText *held = texts->held + i;
        PyObject *text = PyBytes_FromStringAndSize(texts->bytes + held->start, (Py_ssize_t)held->size);
        if (text) PyList_SET_ITEM(list, i, text);
        else Py_CLEAR(list);
    }
    return list;
}

PyObject *trace_events(PyObject *self, PyObject *text) {
    (void)self;
    char *start;
    Py_ssize_t size, used;
    Rows rows = {0};
    if (PyBytes_AsStringAndSize(text, &start, &size)) return NULL;
    if (texts_open(&rows.texts)) return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    used = read_rows(start, size, &rows);
    Py_END_ALLOW_THREADS
    PyObject *answer = NULL, *texts = used < 0 ? PyErr_NoMemory() : list_of(&rows.texts);
    if (texts)
        answer = Py_BuildValue("y#Nn", rows.rows ? (char *)rows.rows : "",
                               (Py_ssize_t)(rows.count * sizeof *rows.rows), texts, used);
    free(rows.rows);
    texts_close(&rows.texts);
    return answer;
}
