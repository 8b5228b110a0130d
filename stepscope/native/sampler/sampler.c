/* The sampler: walks the frames of all threads while it holds the GIL.

   Naming a function or a thread runs Python, which may let other threads run and their frames
   vanish. So stacks whose functions are all named are recorded at once; for the others the code
   objects are kept alive, and they are named and recorded once all threads have been seen. */
#include "sampler/sampler.h"
#include "clock/clock.h"
#include "interpreter/functions.h"
#include "interpreter/threads.h"
#include "python/opcodes.h"
#include "sampler/samples.h"
#include "sampler/stack.h"

#include <stdlib.h>
#include <string.h>

enum {
    GLIMPSES = 32, /* threads with a glimpse */
    ASIDE_STACKS = 64,
    ASIDE_SPOTS = 4096,
    CACHE = 4096, /* places whose node is known; a power of two */
    LOOKS = 8,    /* looks whose cost is remembered */
};

/* A stack to be named. */
typedef struct {
    size_t thread; /* index in `threads` */
    unsigned long ident, native;
    enum SamplesKind kind;
    Spot *spots;   /* each holds a reference */
    int count;
    uint64_t end, weight;
} Aside;

static Sampled *threads, *threads_before; /* newest thread first, as Python lists them */
static size_t thread_count, before_count, thread_room, before_room, cursor;

static Spot stack[STACK_AT_MOST];
static Spot aside_spots[ASIDE_SPOTS];
static Aside asides[ASIDE_STACKS];
static int aside_count, aside_used;

static Glimpse glimpses[GLIMPSES];
static int glimpse_count;

static uint64_t glanced; /* when the glimpses were taken; 0: none */
static uint64_t last_ticks;
static uint64_t look_ticks[LOOKS]; /* how long each of the last looks took */
static unsigned looks;

/* ---- nodes ------------------------------------------------------------------------------------------ */

/* Cache of lines already looked up: a look-up takes time in proportion to the function's length.
   Code objects of the same name are distinguished by their size. */
typedef struct {
    uint32_t parent, function, size, node;
    int offset;
} Known;

static Known cache[CACHE];

static uint32_t node_of(uint32_t parent, uint32_t function, Spot spot) {
    uint32_t size = (uint32_t)Py_SIZE(spot.code);
    uint64_t hash = ((uint64_t)parent << 32 | function) * 0x9E3779B97F4A7C15ull + (uint64_t)spot.offset;
    Known *known = &cache[(hash * 0xBF58476D1CE4E5B9ull) >> 52];
    if (LIKELY(known->node && known->parent == parent && known->function == function &&
               known->offset == spot.offset && known->size == size))
        return known->node;
    int line = PyCode_Addr2Line((PyCodeObject *)spot.code, spot.offset);
    uint32_t node = samples_node(parent, function, line > 0 ? (uint32_t)line : 0);
    *known = (Known){parent, function, size, node, spot.offset};
    return node;
}

/* Whether our function without a name is one that the native core calls: what it calls in turn is
   our work. Inside the others (a decorator, say) the script's own code runs. */
static int is_our_work(PyObject *code) {
    static const char *const files[] = {"/record/recording.py", "/record/boot.py"};
    Py_ssize_t length;
    const char *name = PyUnicode_AsUTF8AndSize(((PyCodeObject *)code)->co_filename, &length);
    if (!name) PyErr_Clear();
    for (size_t i = 0; name && i < sizeof files / sizeof *files; i++) {
        Py_ssize_t end = (Py_ssize_t)strlen(files[i]);
        if (length >= end && !memcmp(name + length - end, files[i], (size_t)end)) return 1;
    }
    return 0;
}

/* The innermost node of a stack; 0: no frames of the script, or no space. */
static uint32_t node_of_stack(const Spot *spots, int count) {
    uint32_t node = 0;
    for (int i = 0; i < count; i++) {
        uint32_t below = node;
        if (!spots[i].code) {
            below = samples_node(node, 0, 0);
        } else {
            uint32_t function = function_of_code(spots[i].code);
            if (!function && is_our_work(spots[i].code)) return node;
            if (!function) continue;
            below = node_of(node, function, spots[i]);
        }
        if (!below) return 0;
        node = below;
    }
    return node;
}

static int all_named(int count) {
    for (int i = 0; i < count; i++)
        if (stack[i].code && !function_is_known(stack[i].code)) return 0;
    return 1;
}

static void record(Sampled *thread, enum SamplesKind kind, const Spot *spots, int count, uint64_t end,
                   uint64_t weight) {
    uint32_t node = node_of_stack(spots, count);
    if (node) samples_add(thread, kind, node, end - weight, weight);
}

/* Whether a thread that stayed at an instruction did so in C; -1: not known. A thread without a core
   stays at any instruction; but if it is still there once we have the GIL, it had given the GIL away,
   as C does. */
static int stays_in_c(const Glimpse *glimpse, PyThreadState *tstate, const Spot *inmost) {
    const GlimpseFrame *then = &glimpse->frames[0];
    int is_known = inmost->code && inmost->code == then->code &&
                   code_units(inmost->code) + inmost->offset == (char *)then->at;
    if (!is_known) return -1;
    if (opcode_is_tick(inmost->code, inmost->offset)) return 0;
    if (glimpse->had_core) return 1;
    if (!opcode_may_stay_in_c(inmost->code, inmost->offset)) return 0;
    Frame *now = frame_of(tstate);
    return now == then->frame && layout_at(now) == then->at ? 1 : -1;
}

/* What the thread did. */
static enum SamplesKind kind_of(const Glimpse *glimpse, PyThreadState *tstate, const Spot *inmost) {
    if (!glimpse || glimpse->activity == ACTIVITY_UNKNOWN) return SAMPLES_SAMPLE;
    if (glimpse->awaits_work) return SAMPLES_NATIVE;
    if (glimpse->activity != ACTIVITY_RUNS) return SAMPLES_WAITING;
    if (!glimpse->stays) return SAMPLES_PYTHON;
    int in_c = stays_in_c(glimpse, tstate, inmost);
    return in_c < 0 ? SAMPLES_SAMPLE : in_c ? SAMPLES_NATIVE : SAMPLES_PYTHON;
}

/* ---- threads ------------------------------------------------------------------------------------------- */

/* This thread's entry of the last look; threads are listed newest first in both. */
static Sampled carried(uint64_t id) {
    while (cursor < before_count && threads_before[cursor].id > id) cursor++;
    if (cursor < before_count && threads_before[cursor].id == id) return threads_before[cursor];
    return (Sampled){.id = id};
}

/* NULL: no memory. */
static Sampled *note_thread(uint64_t id) {
    if (thread_count == thread_room) {
        size_t wider = thread_room ? thread_room * 2 : 64;
        Sampled *moved = realloc(threads, wider * sizeof *moved);
        if (!moved) return NULL;
        threads = moved;
        thread_room = wider;
    }
    threads[thread_count] = carried(id);
    return &threads[thread_count++];
}

/* For later: it has names to look up. 0: no room, the next look makes up for it. */
static int put_aside(PyThreadState *tstate, enum SamplesKind kind, int count, uint64_t end,
                     uint64_t weight) {
    if (aside_count == ASIDE_STACKS || aside_used + count > ASIDE_SPOTS) return 0;
    Aside *aside = &asides[aside_count++];
    *aside = (Aside){thread_count - 1, tstate->thread_id, tstate->native_thread_id, kind,
                     aside_spots + aside_used, count, end, weight};
    memcpy(aside->spots, stack, (size_t)count * sizeof *stack);
    for (int i = 0; i < count; i++) Py_XINCREF(stack[i].code);
    aside_used += count;
    return 1;
}

static void sample_stack(PyThreadState *tstate, const Glimpse *glimpse, uint64_t end,
                         uint64_t weight) {
    Sampled *thread = &threads[thread_count - 1];
    int count = stack_walk(tstate, glimpse, stack);
    if (!count) return;
    weight += thread->owed;
    thread->owed = 0;
    enum SamplesKind kind = kind_of(glimpse, tstate, &stack[count - 1]);
    if (thread->thread && all_named(count)) record(thread, kind, stack, count, end, weight);
    else if (!put_aside(tstate, kind, count, end, weight)) thread->owed = weight;
}

static const Glimpse *glimpse_of(PyThreadState *tstate) {
    for (int i = 0; i < glimpse_count; i++)
        if (glimpses[i].state == tstate) return &glimpses[i];
    return NULL;
}

/* As it was at the glimpse, for all the time since the last look. Not as it is once we have the
   GIL: a thread that releases it only for moments, as each call into NumPy or torch does, keeps it
   from us until the longest of those calls, and would always be found there. */
static void sample_thread(PyThreadState *tstate, uint64_t now) {
    if (!frame_of(tstate)) return; /* it runs no Python, or not yet */
    Sampled *thread = note_thread(PyThreadState_GetID(tstate));
    if (!thread) return;
    thread->state = tstate;
    thread->native = tstate->native_thread_id;
    const Glimpse *glimpse = glimpse_of(tstate);
    sample_stack(tstate, glimpse, glimpse ? glanced : now, now - last_ticks);
}

/* Whether `threading` started it: such a thread has a name, except right at its start and end. */
static int is_pythons(const Aside *aside) {
    PyObject *outermost = aside->spots[0].code;
    return outermost && PyUnicode_CompareWithASCIIString(((PyCodeObject *)outermost)->co_qualname,
                                                         "Thread._bootstrap") == 0;
}

/* May run Python: afterwards anything but the entry itself and our references may have changed. */
static void name_and_record(Aside *aside) {
    Sampled *thread = &threads[aside->thread];
    if (!thread->thread)
        thread->thread = thread_other_id(aside->ident, aside->native, is_pythons(aside));
    if (thread->thread) record(thread, aside->kind, aside->spots, aside->count, aside->end, aside->weight);
    else thread->owed += aside->weight; /* it will have a name in a moment, or it is about to end */
    for (int i = 0; i < aside->count; i++) Py_XDECREF(aside->spots[i].code);
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

static void exchange_lists(void) {
    Sampled *list = threads;
    size_t list_room = thread_room;
    threads = threads_before;
    thread_room = before_room;
    threads_before = list;
    before_room = list_room;
    before_count = thread_count;
    thread_count = cursor = 0;
}

void sampler_begin(void) {
    samples_begin();
    thread_count = before_count = 0;
    aside_count = aside_used = 0;
    glimpse_count = 0;
    activities_forget();
    glanced = 0;
    memset(look_ticks, 0, sizeof look_ticks);
    memset(cache, 0, sizeof cache);
    sampler_go_on(ticks_now());
}

void sampler_go_on(uint64_t now) {
    last_ticks = now;
    for (size_t i = 0; i < thread_count; i++) threads[i].owed = 0;
}

/* A library's own threads (TensorFlow's, XLA's) compute while the one that called them awaits them.
   Where one of Python's threads runs, the cores that the process uses may be that one's. */
static void find_awaited_work(void) {
    if (thread_count > GLIMPSES) return;
    for (int i = 0; i < glimpse_count; i++)
        if (glimpses[i].activity == ACTIVITY_RUNS || glimpses[i].activity == ACTIVITY_UNKNOWN) return;
    for (int i = 0; i < glimpse_count; i++)
        if (glimpses[i].activity == ACTIVITY_AWAITS)
            glimpses[i].awaits_work = activity_is_awaiting_work(glimpses[i].native);
}

/* The thread list is ours; what it points to may be gone, which the glimpse can handle. */
void sampler_glance(void) {
    glimpse_count = 0;
    glanced = ticks_now();
    for (size_t i = 0; i < thread_count && i < GLIMPSES; i++)
        if (glimpse_take(&glimpses[glimpse_count], threads[i].state, threads[i].native)) glimpse_count++;
    find_awaited_work();
}

static void look(PyThreadState *ours, uint64_t now) {
    exchange_lists();
    PyInterpreterState *interpreter = PyThreadState_GetInterpreter(ours);
    for (PyThreadState *tstate = PyInterpreterState_ThreadHead(interpreter); tstate;
         tstate = PyThreadState_Next(tstate))
        if (tstate != ours) sample_thread(tstate, now);
    look_ticks[looks++ % LOOKS] = ticks_now() - now;
}

void sampler_take(PyThreadState *ours, uint64_t now) {
    if (samples_can_grow()) look(ours, now);
    last_ticks = now;
    for (int i = 0; i < aside_count; i++) name_and_record(&asides[i]);
    aside_count = aside_used = 0;
}

/* The minimum: on a busy machine, single looks are interrupted for many times their length. */
uint64_t sampler_cost(void) {
    uint64_t least = look_ticks[0];
    for (int i = 1; i < LOOKS; i++)
        if (look_ticks[i] < least) least = look_ticks[i];
    return least;
}
