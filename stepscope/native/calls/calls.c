/* The call engine: threads' stacks of open calls, and the events that are not on the fast path. */
#include "calls/calls.h"
#include "calls/call_tree.h"
#include "interpreter/events.h"
#include "storage/storage.h"

#include <string.h>

enum {
    DEPTH_AT_FIRST = 128,
    SEPARATE_TREES = 256, /* with more threads than this, a new one reuses an ended one's tree */
    SPARE = 64,
};

int calls_on;

static int trees;
static CallNode *ended_roots[SPARE]; /* of ended threads */
static int ended_count;
static Block *free_stacks[SPARE];
static int free_count;

/* ---- stacks ------------------------------------------------------------------------------------------- */

static Block *take_stack(uint32_t entries, uint32_t thread_id) {
    Block *block = NULL;
    for (int i = 0; i < free_count && !block; i++) {
        if (free_stacks[i]->count < entries) continue;
        block = free_stacks[i];
        free_stacks[i] = free_stacks[--free_count];
    }
    if (!block) block = call_block(CALLS_FREE, entries * sizeof(CallEntry), entries);
    if (!block) return NULL;
    memset(block + 1, 0, block->count * sizeof(CallEntry));
    block->id = thread_id;
    __atomic_store_n(&block->tag, CALLS_TAG | CALLS_STACK, __ATOMIC_RELEASE);
    return block;
}

static void free_stack(Block *block) {
    __atomic_store_n(&block->tag, CALLS_TAG | CALLS_FREE, __ATOMIC_RELEASE);
    if (free_count < SPARE) free_stacks[free_count++] = block;
}

static void use_stack(Thread *thread, Block *block, size_t depth) {
    thread->call_block = block;
    thread->call_base = (CallEntry *)(block + 1);
    thread->call_top = thread->call_base + depth;
    thread->call_end = thread->call_base + block->count;
}

int call_stack_grow(Thread *thread) {
    size_t depth = (size_t)(thread->call_top - thread->call_base);
    Block *old = thread->call_block, *block = NULL;
    if (old->count < UINT32_MAX / sizeof(CallEntry) / 4) block = take_stack(old->count * 2, old->id);
    if (!block) return -1;
    memcpy(block + 1, old + 1, (depth + 1) * sizeof(CallEntry));
    use_stack(thread, block, depth);
    free_stack(old);
    return 0;
}

/* ---- threads ------------------------------------------------------------------------------------------ */

static CallNode *root_for(uint32_t thread_id) {
    if (trees >= SEPARATE_TREES && ended_count) return ended_roots[--ended_count];
    trees++;
    return call_root(thread_id);
}

static int give_stack(Thread *thread) {
    Block *block = take_stack(DEPTH_AT_FIRST, thread->id);
    CallNode *root = block ? root_for(thread->id) : NULL;
    if (!root) return -1;
    use_stack(thread, block, 0);
    thread->call_root = root;
    root->calls++;
    *thread->call_base = (CallEntry){.node = root, .start = ticks_now(), .key = &call_no_room};
    return 0;
}

Thread *calls_thread(void) {
    if (LIKELY(this_thread && this_thread->call_top)) return this_thread;
    if (!calls_on) return NULL;
    if (UNLIKELY(threads_on_entry)) threads_on_entry();
    Thread *thread = thread_get();
    if (!thread || !thread->block || !calls_on || !calls_stream.is_open) return NULL;
    if (thread->call_top) return thread;
    return give_stack(thread) ? NULL : thread;
}

/* Its calls end now, root included. */
void calls_thread_release(Thread *thread, uint64_t now) {
    if (!thread->call_block) return;
    for (CallEntry *entry = thread->call_top; entry >= thread->call_base; entry--)
        call_node(entry)->ticks += now - entry->start;
    calls_thread_ended(thread);
}

void calls_thread_ended(Thread *thread) {
    free_stack(thread->call_block);
    if (ended_count < SPARE) ended_roots[ended_count++] = thread->call_root;
    thread->call_top = thread->call_base = thread->call_end = NULL;
    thread->call_block = NULL;
    thread->call_root = NULL;
}

/* ---- events ------------------------------------------------------------------------------------------- */

void call_enter_new(PyObject *code) {
    uint64_t asking = functions_asking_ticks;
    uint32_t function = function_of_code(code); /* first: it may run Python */
    Thread *thread = calls_thread();
    if (!thread) return;
    if (asking != functions_asking_ticks) call_forgive(thread, functions_asking_ticks - asking);
    call_enter(thread, function, code, CALLS_NOW);
}

/* The call is not on top: the calls above it ended unseen. */
int call_leave_below(Thread *thread, const void *key, uint64_t now) {
    CallEntry *found = thread->call_top;
    while (found > thread->call_base && found->key != key) found--;
    if (found == thread->call_base) return 0;
    for (CallEntry *entry = thread->call_top; entry >= found; entry--) {
        call_node(entry)->ticks += now - entry->start;
        entry->node = NULL;
    }
    thread->call_top = found - 1;
    return 1;
}

/* Inside a call that we saw begin, it began after we did: the interpreter did not report it. It is
   counted, and its time is its caller's. */
void call_missed(Thread *thread, uint32_t function) {
    if (thread->call_top > thread->call_base) call_child(call_node(thread->call_top), function)->calls++;
}

/* The first call of a function also names it, which takes longer than most functions. */
void call_forgive(Thread *thread, uint64_t ticks) {
    uint64_t now = ticks_now();
    for (CallEntry *entry = thread->call_base; entry <= thread->call_top; entry++)
        entry->start = entry->start + ticks < now ? entry->start + ticks : now;
}

void calls_lost(char *from, char *end) {
    for (Thread *thread = all_threads; thread; thread = thread->next)
        for (CallEntry *entry = thread->call_base; entry && entry <= thread->call_top; entry++)
            if ((char *)entry + sizeof *entry > from && (char *)entry < end)
                *entry = (CallEntry){.node = &call_no_room, .key = &call_no_room};
}

void calls_end(uint64_t now) {
    calls_on = 0;
    for (Thread *thread = all_threads; thread; thread = thread->next) calls_thread_release(thread, now);
}

void calls_rebind(void) {
    call_tree_forget();
    call_no_room.calls = 0;
    trees = ended_count = free_count = 0;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static void add_calls(CallNode *node, void *total) {
    if (node->tag == (CALLS_TAG | CALLS_NODE)) *(uint64_t *)total += node->calls;
}

uint64_t calls_counted(void) {
    uint64_t total = 0;
    if (calls_stream.is_open) call_tree_walk(add_calls, &total);
    return total;
}

static void add_row(CallNode *node, void *context) {
    PyObject **rows = context;
    int is_root = node->tag == (CALLS_TAG | CALLS_ROOT);
    if (!*rows) return;
    PyObject *row = Py_BuildValue("IIIKK", call_offset(node), is_root ? 0 : node->parent,
                                  is_root ? 0 : node->function, node->calls, node->ticks);
    if (!row || PyList_Append(*rows, row)) Py_CLEAR(*rows);
    Py_XDECREF(row);
}

PyObject *calls_read(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    PyObject *rows = PyList_New(0);
    if (rows && calls_stream.is_open) call_tree_walk(add_row, &rows);
    return rows;
}

PyObject *calls_start(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    threads_on_end = calls_thread_ended;
    calls_on = 1;
    Py_RETURN_NONE;
}

PyObject *calls_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    calls_end(ticks_now());
    Py_RETURN_NONE;
}

PyObject *calls_feed(PyObject *self, PyObject *args) {
    (void)self;
    unsigned int function;
    unsigned long long now;
    int entering;
    if (!PyArg_ParseTuple(args, "pIK", &entering, &function, &now)) return NULL;
    Thread *thread = calls_thread();
    if (!thread) return PyErr_Format(PyExc_RuntimeError, "calls are not being counted");
    const void *key = (const void *)(uintptr_t)(1 + (uint64_t)function); /* any address but 0 */
    if (entering) call_enter(thread, function, key, now);
    else if (!call_leave(thread, key, now)) call_missed(thread, function);
    Py_RETURN_NONE;
}
