/* The tree of calls: nodes are taken from blocks of many; a node with many children is hashed. */
#include "calls/calls.h"
#include "calls/call_tree.h"
#include "storage/storage.h"

#include <stdlib.h>

enum { NODES_A_BLOCK = 1020, WIDE = 16 };
#define NO_FUNCTION UINT32_MAX /* of roots: no function */

CallNode call_no_room = {.function = NO_FUNCTION};

static CallNode *fresh, *fresh_end; /* unused nodes of the last block */

/* ---- nodes ------------------------------------------------------------------------------------------- */

Block *call_block(uint32_t kind, size_t bytes, uint32_t count) {
    size_t size = (sizeof(Block) + bytes + CALLS_UNIT - 1) / CALLS_UNIT * CALLS_UNIT;
    Block *block = stream_take(&calls_stream, size);
    if (!block) return NULL;
    block->size = (uint32_t)size;
    block->count = count;
    __atomic_store_n(&block->tag, CALLS_TAG | kind, __ATOMIC_RELEASE);
    return block;
}

static CallNode *take_node(void) {
    if (fresh == fresh_end) {
        Block *block = call_block(CALLS_NODES, NODES_A_BLOCK * sizeof(CallNode), NODES_A_BLOCK);
        if (!block) return NULL;
        fresh = (CallNode *)(block + 1);
        fresh_end = fresh + NODES_A_BLOCK;
    }
    return fresh++;
}

uint32_t call_offset(const CallNode *node) {
    return (uint32_t)(((const char *)node - calls_stream.base) / CALLS_UNIT);
}

static CallNode *make_node(uint32_t kind, uint32_t function, uint32_t parent) {
    CallNode *node = take_node();
    if (!node) return NULL;
    node->function = function;
    node->parent = parent;
    node->next = node;
    __atomic_store_n(&node->tag, CALLS_TAG | kind, __ATOMIC_RELEASE);
    return node;
}

CallNode *call_root(uint32_t thread_id) { return make_node(CALLS_ROOT, NO_FUNCTION, thread_id); }

void call_tree_walk(void (*visit)(CallNode *, void *), void *context) {
    char *at = calls_stream.base + sizeof(FileHeader), *end = calls_stream.base + calls_stream.used;
    for (; at < end && ((Block *)at)->size; at += ((Block *)at)->size) {
        Block *block = (Block *)at;
        if (block->tag != (CALLS_TAG | CALLS_NODES)) continue;
        CallNode *nodes = (CallNode *)(block + 1);
        for (uint32_t i = 0; i < block->count && nodes[i].tag; i++) visit(&nodes[i], context);
    }
}

/* ---- children of wide nodes: open addressing by parent and function --------------------------------- */

typedef struct {
    CallNode *parent, *child;
} Slot;

static Slot *table;
static size_t room, used; /* room is a power of two */

static Slot *find(Slot *slots, size_t size, const CallNode *parent, uint32_t function) {
    uint64_t hash = ((uint64_t)(uintptr_t)parent >> 4) * 0x9E3779B97F4A7C15ull + function;
    hash ^= hash >> 29;
    hash *= 0xBF58476D1CE4E5B9ull;
    size_t at = (size_t)(hash >> 32) & (size - 1);
    while (slots[at].parent && (slots[at].parent != parent || slots[at].child->function != function))
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static int grow(void) {
    size_t wider = room ? room * 2 : 1024;
    Slot *slots = calloc(wider, sizeof *slots);
    if (!slots) return -1;
    for (size_t i = 0; i < room; i++)
        if (table[i].parent) *find(slots, wider, table[i].parent, table[i].child->function) = table[i];
    free(table);
    table = slots;
    room = wider;
    return 0;
}

/* Without memory it is not found again: its next call makes another node; the sums stay right. */
static void remember(CallNode *parent, CallNode *child) {
    if (2 * used >= room && grow()) return;
    *find(table, room, parent, child->function) = (Slot){parent, child};
    used++;
}

/* From now on its children are found by the table, not the ring. */
static void widen(CallNode *parent) {
    CallNode *child = parent->recent;
    while (child) { /* NULL: the file was cut, and the ring with it */
        remember(parent, child);
        child = child->next == parent->recent ? NULL : child->next;
    }
}

void call_tree_forget(void) {
    fresh = fresh_end = NULL;
    free(table);
    table = NULL;
    room = used = 0;
}

/* ---- finding a child ----------------------------------------------------------------------------------- */

static CallNode *known_child(CallNode *parent, uint32_t function) {
    CallNode *recent = parent->recent;
    if (!recent || recent->function == function) return recent;
    if (parent->children > WIDE) return room ? find(table, room, parent, function)->child : NULL;
    /* A ring, from the last one on: in a loop the next call is most often the next child. */
    for (CallNode *child = recent->next; child && child != recent; child = child->next)
        if (child->function == function) return child;
    return NULL;
}

static CallNode *new_child(CallNode *parent, uint32_t function) {
    CallNode *child = make_node(CALLS_NODE, function, call_offset(parent));
    if (!child) return NULL;
    if (parent->children == WIDE) widen(parent);
    if (parent->children >= WIDE) {
        remember(parent, child);
    } else if (parent->recent) {
        child->next = parent->recent->next;
        parent->recent->next = child;
    }
    parent->children++;
    return child;
}

CallNode *call_child(CallNode *parent, uint32_t function) {
    if (parent == &call_no_room) return parent;
    CallNode *child = known_child(parent, function);
    if (!child) child = new_child(parent, function);
    if (!child) return &call_no_room;
    parent->recent = child;
    return child;
}
