/* Threads: made at their first event, reaped after their end, their stacks in lines.bin. */
#include "python/compat.h"
#include "interpreter/threads.h"
#include "python/untraced.h"
#include "storage/storage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_AT_FIRST = 128, SIZES = 18 }; /* each size is twice the one before; up to 1 GiB */

__thread Thread *this_thread __attribute__((tls_model("initial-exec")));
Thread *all_threads;
Line line_nowhere;
void (*threads_on_entry)(void);
void (*threads_on_end)(Thread *);
int (*threads_open_after_fork)(void);

static PyObject *on_thread; /* owned: gives a thread its id */

static pthread_key_t end_key;
static int has_end_key; /* a process has 1,024 of them; without one, records of ended threads stay */
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;
static char no_frame; /* an address that is not a frame */

/* Runs as the thread ends, without the GIL: only a mark. Destructors of other libraries may come
   after it and run Python: from here on the record is not the thread's any more, and such events
   make another one, for which this is called again. */
static void thread_ended(void *thread) {
    this_thread = NULL;
    __atomic_store_n(&((Thread *)thread)->gone, 1, __ATOMIC_RELEASE);
}
static void make_end_key(void) {
    has_end_key = pthread_key_create(&end_key, thread_ended) == 0;
    storage_on_fork = threads_forget;
}

/* ---- ids ---------------------------------------------------------------------------------------------- */

void threads_ask(PyObject *asked) { Py_XSETREF(on_thread, Py_XNewRef(asked)); }

static uint32_t own_id(void) { return on_thread ? untraced_number(on_thread, NULL, 0) : 0; }

uint32_t thread_other_id(unsigned long ident, unsigned long native, int is_pythons) {
    if (!on_thread) return 0;
    PyObject *args[] = {PyLong_FromUnsignedLong(ident), PyLong_FromUnsignedLong(native),
                        is_pythons ? Py_True : Py_False};
    uint32_t id = args[0] && args[1] ? untraced_number(on_thread, args, 3) : 0;
    Py_XDECREF(args[0]);
    Py_XDECREF(args[1]);
    return id;
}

/* ---- stacks ------------------------------------------------------------------------------------------- */

static Block *free_blocks[SIZES]; /* by size, each a list: searching lines.bin would take its time */

static Block **next_free(Block *block) { return (Block **)(block + 1); }

static uint32_t entries_of(int size) { return (uint32_t)DEPTH_AT_FIRST << size; }

static int size_for(uint32_t entries) {
    int size = 0;
    while (size < SIZES && entries_of(size) < entries) size++;
    return size;
}

/* No stack gets more than a quarter of lines.bin: the counters of new code must have room too. */
static Block *new_block(uint32_t entries) {
    size_t bytes = sizeof(Block) + entries * sizeof(Activation);
    if (entries > DEPTH_AT_FIRST && bytes > lines_stream.limit / 4) return NULL;
    Block *block = stream_take(&lines_stream, bytes);
    if (!block) return NULL;
    block->size = (uint32_t)bytes;
    block->count = entries;
    return block;
}

/* One that an ended thread or a stack that grew has left, or NULL. */
static Block *used_block(int size) {
    Block *block = free_blocks[size];
    if (!block) return NULL;
    free_blocks[size] = *next_free(block);
    memset(block + 1, 0, block->size - sizeof *block);
    return block;
}

static Block *take_block(uint32_t entries, uint32_t id) {
    int size = size_for(entries);
    if (size == SIZES) return NULL;
    Block *block = used_block(size);
    if (!block) block = new_block(entries_of(size));
    while (!block && ++size < SIZES) block = used_block(size);
    if (!block) return NULL;
    block->id = id;
    __atomic_store_n(&block->tag, BLOCK_TAG | BLOCK_THREAD, __ATOMIC_RELEASE);
    return block;
}

static void free_block(Block *block) {
    __atomic_store_n(&block->tag, BLOCK_TAG | BLOCK_FREE, __ATOMIC_RELEASE);
    int size = size_for(block->count);
    *next_free(block) = free_blocks[size];
    free_blocks[size] = block;
}

static void use_block(Thread *thread, Block *block, size_t depth) {
    thread->block = block;
    thread->base = (Activation *)(block + 1);
    thread->top = thread->base + depth;
    thread->end = thread->base + block->count;
}

/* An empty stack in lines.bin. -1: no space. */
static int give_stack(Thread *thread) {
    Block *block = take_block(DEPTH_AT_FIRST, thread->id);
    if (!block) return -1;
    use_block(thread, block, 0);
    thread->base->frame = &no_frame;
    thread->base->current = &line_nowhere;
    return 0;
}

static void reap_ended(void) {
    for (Thread **link = &all_threads; *link;) {
        Thread *thread = *link;
        if (!__atomic_load_n(&thread->gone, __ATOMIC_ACQUIRE)) {
            link = &thread->next;
            continue;
        }
        *link = thread->next;
        if (thread->block) free_block(thread->block);
        if (thread->call_block) threads_on_end(thread);
        free(thread);
    }
}

static Thread *thread_make(void) {
    pthread_once(&end_key_once, make_end_key);
    reap_ended();
    Thread *thread = calloc(1, sizeof *thread);
    if (!thread) return NULL;
    thread->next = all_threads;
    all_threads = thread;
    if (has_end_key) pthread_setspecific(end_key, thread);
    return thread;
}

Thread *thread_get(void) {
    if (LIKELY(this_thread && this_thread->base)) return this_thread;
    if (!storage_is_open) return NULL;
    if (storage_forked && threads_open_after_fork()) return NULL;
    if (!this_thread && !(this_thread = thread_make())) return NULL;
    if (this_thread->base) return this_thread; /* made by the fork hook's own events */
    if (this_thread->asking) return NULL;      /* an event caused by asking for the id */
    this_thread->asking = 1;
    if (!this_thread->id) this_thread->id = own_id();
    this_thread->asking = 0;
    return give_stack(this_thread) ? NULL : this_thread;
}

/* Deep recursion: a block of twice the size takes over. */
static int grow_stack(Thread *thread) {
    size_t depth = (size_t)(thread->top - thread->base);
    Block *old = thread->block, *block = take_block(old->count * 2, thread->id);
    if (!block) return -1;
    memcpy(block + 1, old + 1, (depth + 1) * sizeof(Activation));
    use_block(thread, block, depth);
    free_block(old);
    return 0;
}

Activation *thread_push(Thread *thread) {
    if (UNLIKELY(thread_is_full(thread)) && grow_stack(thread)) return NULL;
    return ++thread->top;
}

void threads_rebind(void) {
    memset(free_blocks, 0, sizeof free_blocks);
    for (Thread *thread = all_threads; thread; thread = thread->next) {
        thread->base = thread->top = thread->end = NULL;
        thread->block = NULL;
        thread->id = 0;
        thread->call_base = thread->call_top = thread->call_end = NULL;
        thread->call_block = NULL;
        thread->call_root = NULL;
    }
}

void thread_is_ours(void) {
    static Activation none;
    static Thread ours = {.top = &none, .base = &none, .end = &none + 1};
    none.frame = &no_frame;
    none.current = &line_nowhere;
    this_thread = &ours;
}

/* Their memory is left alone: another thread's allocator state may be anything at a fork. */
void threads_forget(void) {
    all_threads = NULL;
    this_thread = NULL;
    memset(free_blocks, 0, sizeof free_blocks);
}
