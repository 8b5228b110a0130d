/* Switching ticks off on 3.11: single units of the bytecode are replaced, under the GIL. The
   interpreter rewrites its instructions in place too, and reads each unit again. */
#include "lines/bare.h"
#include "python/twins.h"
#include "storage/storage.h"

#if !HAS_MONITORING

#include <opcode.h>
#include <string.h>

enum { ONE_UNIT = 0xff, TWO_UNITS = 0xffff }; /* how far jumps reach */

/* ---- units that are not as they were ------------------------------------------------------------- */

typedef struct {
    PyObject *code; /* owned: keeps `at` valid */
    _Py_CODEUNIT *at;
    _Py_CODEUNIT before;
} Patch;

static Patch *patches;
static size_t patch_count, patch_room;

static int make_room(size_t more) {
    if (patch_count + more <= patch_room) return 0;
    size_t room = patch_room ? patch_room * 2 : 256;
    Patch *wider = PyMem_RawRealloc(patches, room * sizeof *wider);
    if (!wider) return -1;
    patches = wider;
    patch_room = room;
    return 0;
}

/* There is room for it. */
static void put(PyObject *code, _Py_CODEUNIT *at, int opcode, int argument) {
    patches[patch_count++] = (Patch){Py_NewRef(code), at, *at};
    *at = _Py_MAKECODEUNIT(opcode, argument);
}

/* The same for one or two of them; `units`: from `at` to where it leads. */
static void jump(PyObject *code, _Py_CODEUNIT *at, int units) {
    if (units - 1 <= ONE_UNIT) {
        put(code, at, JUMP_FORWARD, units - 1);
        return;
    }
    put(code, at, EXTENDED_ARG, (units - 2) >> 8);
    put(code, at + 1, JUMP_FORWARD, (units - 2) & 0xff);
}

/* The latest first: a unit may have been replaced twice. */
static void take_back(int (*chosen)(const Patch *, const void *), const void *what) {
    size_t kept = patch_count;
    for (size_t i = patch_count; i-- > 0;) {
        if (!chosen(&patches[i], what)) {
            patches[--kept] = patches[i];
            continue;
        }
        *patches[i].at = patches[i].before;
        Py_DECREF(patches[i].code);
    }
    memmove(patches, patches + kept, (patch_count - kept) * sizeof *patches);
    patch_count -= kept;
}

static int is_in(const Patch *patch, const void *code) { return patch->code == code; }
static int is_at(const Patch *patch, const void *at) { return patch->at == at; }

/* ---- the copy ------------------------------------------------------------------------------------ */

static const BarePlace *places_of(const Twin *twin, size_t *count) {
    *count = (size_t)PyBytes_GET_SIZE(twin->bare) / sizeof(BarePlace); /* the start is 4 bytes more */
    return (const BarePlace *)(PyBytes_AS_STRING(twin->bare) + sizeof(uint32_t));
}

static const BarePlace *place_of_tick(const Twin *twin, uint32_t unit) {
    size_t count;
    const BarePlace *places = places_of(twin, &count);
    for (size_t i = 0; i < count; i++)
        if (places[i].tick == unit) return &places[i];
    return NULL;
}

/* It would run what is at `at`, too, without looking at it. */
static void split_superinstruction(_Py_CODEUNIT *before) {
    int first = 0;
    switch (_Py_OPCODE(*before)) {
    case LOAD_FAST__LOAD_FAST:
    case LOAD_FAST__LOAD_CONST: first = LOAD_FAST; break;
    case STORE_FAST__LOAD_FAST:
    case STORE_FAST__STORE_FAST: first = STORE_FAST; break;
    case LOAD_CONST__LOAD_FAST: first = LOAD_CONST; break;
    }
    if (first) *before = _Py_MAKECODEUNIT(first, _Py_OPARG(*before));
}

/* The line's next run in the copy is counted by its tick. */
static void detour(PyObject *code, const BarePlace *place) {
    _Py_CODEUNIT *first = _PyCode_CODE((PyCodeObject *)code), *at = first + place->bare;
    if (make_room(2)) return;
    if (!(place->about & AFTER_CACHES)) split_superinstruction(at - 1);
    jump(code, at, (int)(place->island - place->bare));
}

static int is_detour(const _Py_CODEUNIT *first, const BarePlace *place) {
    if (place->island <= ISLAND_NOT_NEEDED) return 0;
    const _Py_CODEUNIT *at = first + place->bare;
    int units = (int)(place->island - place->bare);
    if (!(place->about & WIDE)) return *at == _Py_MAKECODEUNIT(JUMP_FORWARD, units - 1);
    return *at == _Py_MAKECODEUNIT(EXTENDED_ARG, (units - 2) >> 8) && _Py_OPCODE(at[1]) == JUMP_FORWARD;
}

static void end_detour(_Py_CODEUNIT *first, const BarePlace *place) {
    if (!is_detour(first, place)) return;
    take_back(is_at, first + place->bare);
    if (place->about & WIDE) take_back(is_at, first + place->bare + 1);
}

static int still_counts(const CodeRecord *record, uint32_t line) {
    uint64_t hits = line ? record->lines[line].hits : HITS_MASK;
    return (hits & HITS_MASK) < lines_thin_below;
}

/* With detours where lines still count; `record` NULL: none does. -1: one is out of reach. */
static int enter_copy(PyObject *code, Twin *twin, const CodeRecord *record) {
    size_t count;
    const BarePlace *places = places_of(twin, &count);
    const _Py_CODEUNIT *first = _PyCode_CODE((PyCodeObject *)code);
    for (size_t i = 0; record && i < count; i++)
        if (places[i].island == ISLAND_TOO_FAR && still_counts(record, tick_line_at(code, first + places[i].tick)))
            return -1;
    if (record) take_back(is_in, code); /* what jumped over its tick comes here at its next run */
    for (size_t i = 0; record && i < count; i++)
        if (places[i].island > ISLAND_NOT_NEEDED && still_counts(record, tick_line_at(code, first + places[i].tick)))
            detour(code, &places[i]);
    twin->in_copy = 1;
    return 0;
}

/* ---- switching off ------------------------------------------------------------------------------- */

/* A trace function sees a jump back to a tick as a line, and may stop between any two units. */
static int is_traced(void) {
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    while (tstate && !tstate->c_tracefunc) tstate = PyThreadState_Next(tstate);
    return tstate != NULL;
}

/* Loops that are stamped need to know when an activation ends, and whoever only pauses wants the
   lines of generators that wait meanwhile. */
static int may_leave_ticks(const CodeRecord *record) {
    if (!lines_on) return !storage_is_open;
    return record && record->thinned && record_may_rest(record);
}

static int is_ready(PyObject *code, Twin *twin) {
    CodeRecord *record = record_of(code);
    if (!twin || !PyBytes_GET_SIZE(twin->bare) || !may_leave_ticks(record) || is_traced()) return 0;
    return twin->in_copy || !enter_copy(code, twin, lines_on ? record : NULL);
}

/* prev_instr is at the UNARY_INVERT: what comes next is the POP_TOP. */
void bare_switch_off(Frame *frame) {
    PyObject *code = (PyObject *)frame->f_code;
    _Py_CODEUNIT *invert = frame->prev_instr, *load = invert - 1, *first = _PyCode_CODE(frame->f_code);
    if (_Py_OPCODE(*invert) != UNARY_INVERT || _Py_OPCODE(*load) != LOAD_CONST) return;
    int over = 2;
    while (load > first && _Py_OPCODE(load[-1]) == EXTENDED_ARG) load--, over++;
    Twin *twin = twin_of(code);
    const BarePlace *place = is_ready(code, twin) ? place_of_tick(twin, (uint32_t)(load - first)) : NULL;
    if (make_room(2)) return;
    if (load > first && _Py_OPCODE(load[-1]) == LOAD_FAST__LOAD_CONST && !(place && place->about & AFTER_CACHES))
        split_superinstruction(load - 1);
    if (!place || place->bare - place->tick - 2 > TWO_UNITS) {
        put(code, load, JUMP_FORWARD, over);
        return;
    }
    jump(code, load, (int)(place->bare - place->tick));
    end_detour(first, place);
}

/* ---- and on again -------------------------------------------------------------------------------- */

void bare_leave(PyObject *code) {
    Twin *twin = twin_of(code);
    if (!twin || !twin->in_copy || !thread_state()->cframe->use_tracing) return;
    take_back(is_in, code);
    twin->in_copy = 0;
}

static void come_back_to_ticks(PyObject *code, const Twin *twin) {
    size_t count;
    const BarePlace *places = places_of(twin, &count);
    for (size_t i = 0; i < count; i++)
        if (places[i].island > ISLAND_NOT_NEEDED) detour(code, &places[i]);
}

void bare_rearm(void) {
    Patch *before = patches;
    size_t count = patch_count;
    patches = NULL;
    patch_count = patch_room = 0;
    for (size_t i = count; i-- > 0;) *before[i].at = before[i].before;
    for (size_t i = 0; i < count; i++) {
        Twin *twin = twin_of(before[i].code);
        if (twin && twin->in_copy) come_back_to_ticks(before[i].code, twin);
        if (twin) twin->in_copy = 0;
        Py_DECREF(before[i].code);
    }
    PyMem_RawFree(before);
}

#endif
