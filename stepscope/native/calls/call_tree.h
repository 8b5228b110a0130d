/* The tree of calls: nodes in calls.bin, and the look-up of a node's child. */
#ifndef STEPSCOPE_CALL_TREE_H
#define STEPSCOPE_CALL_TREE_H

#include "storage/format.h"

#include <stddef.h>


/* A thread's; NULL: no space. */
CallNode *call_root(uint32_t thread_id);

/* The storage changed: the old nodes do not exist any more. */
void call_tree_forget(void);

/* Calls `visit` with each node in the order of the file. */
void call_tree_walk(void (*visit)(CallNode *node, void *context), void *context);

uint32_t call_offset(const CallNode *node); /* in CALLS_UNITs */

/* A block of calls.bin with that many bytes of entries, `count` of them; NULL: no space. */
Block *call_block(uint32_t kind, size_t bytes, uint32_t count);

#endif
