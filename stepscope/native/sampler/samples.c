/* Samples: fixed records, committed by writing the tag last; a look-up table beside the file. */
#include "sampler/samples.h"
#include "storage/storage.h"

#include <stdlib.h>
#include <string.h>

/* Node numbers by content, open addressing. The nodes themselves are in the file. */
static uint32_t *table;
static size_t room, used; /* room is a power of two */

enum { FED = 8 };
static Sampled fed[FED]; /* for tests */

static Node *node_at(uint32_t number) {
    return (Node *)(samples_stream.base + sizeof(FileHeader)) + (number - 1);
}

void samples_begin(void) {
    /* A forked child leaves its parent's memory alone: the allocator may be in any state. */
    if (!storage_forked) free(table);
    table = NULL;
    room = used = 0;
    memset(fed, 0, sizeof fed);
}

int samples_can_grow(void) {
    return storage_is_open && samples_stream.is_open && samples_stream.room;
}

static size_t slot_of(uint32_t parent, uint32_t function, uint32_t line) {
    uint64_t hash = ((uint64_t)parent << 32 | function) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 29 ^ line) * 0xBF58476D1CE4E5B9ull;
    return (size_t)(hash ^ hash >> 32) & (room - 1);
}

static uint32_t *find(uint32_t parent, uint32_t function, uint32_t line) {
    size_t at = slot_of(parent, function, line);
    for (; table[at]; at = (at + 1) & (room - 1)) {
        const Node *node = node_at(table[at]);
        if (node->parent == parent && node->function == function && node->line == line) break;
    }
    return &table[at];
}

/* -1: no memory. */
static int grow_table(void) {
    uint32_t *before = table;
    size_t count = room, wider = room ? room * 2 : 1024;
    uint32_t *slots = calloc(wider, sizeof *slots);
    if (!slots) return -1;
    table = slots;
    room = wider;
    for (size_t i = 0; i < count; i++) {
        if (!before[i]) continue;
        const Node *node = node_at(before[i]);
        *find(node->parent, node->function, node->line) = before[i];
    }
    free(before);
    return 0;
}

static uint32_t add_node(uint32_t parent, uint32_t function, uint32_t line) {
    Node *node = stream_take(&samples_stream, sizeof *node);
    if (!node) return 0;
    node->function = function;
    node->parent = parent;
    node->line = line;
    __atomic_store_n(&node->tag, SAMPLES_TAG | SAMPLES_NODE, __ATOMIC_RELEASE);
    return (uint32_t)(node - node_at(1)) + 1;
}

uint32_t samples_node(uint32_t parent, uint32_t function, uint32_t line) {
    if (2 * used >= room && grow_table()) return 0;
    uint32_t *slot = find(parent, function, line);
    if (*slot) return *slot;
    *slot = add_node(parent, function, line);
    used += *slot != 0;
    return *slot;
}

void samples_add(Sampled *thread, enum SamplesKind kind, uint32_t node, uint64_t start, uint64_t weight) {
    Sample *last = thread->last;
    uint32_t tag = SAMPLES_TAG | kind;
    if (last && last->tag == tag && last->node == node && last->start + last->weight == start) {
        last->weight += weight;
        last->count++;
        return;
    }
    Sample *sample = stream_take(&samples_stream, sizeof *sample);
    thread->last = sample;
    if (!sample) return;
    sample->thread = thread->thread;
    sample->node = node;
    sample->count = 1;
    sample->start = start;
    sample->weight = weight;
    __atomic_store_n(&sample->tag, tag, __ATOMIC_RELEASE);
}

PyObject *samples_feed(PyObject *self, PyObject *args) {
    (void)self;
    unsigned int thread, function, line, kind = SAMPLES_SAMPLE;
    uint32_t node = 0;
    PyObject *stack;
    unsigned long long start, weight;
    if (!PyArg_ParseTuple(args, "IO!KK|I", &thread, &PyTuple_Type, &stack, &start, &weight, &kind))
        return NULL;
    if (thread >= FED || !samples_can_grow()) Py_RETURN_FALSE;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(stack); i++) {
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(stack, i), "II", &function, &line)) return NULL;
        if (!(node = samples_node(node, function, line))) Py_RETURN_FALSE;
    }
    fed[thread].thread = thread;
    samples_add(&fed[thread], (enum SamplesKind)kind, node, start, weight);
    return PyBool_FromLong(fed[thread].last != NULL);
}
