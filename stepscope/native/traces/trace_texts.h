/* Texts that come again and again, each held once and known by its number. */
#ifndef STEPSCOPE_TRACE_TEXTS_H
#define STEPSCOPE_TRACE_TEXTS_H

#include "traces/trace_json.h"

typedef struct {
    uint64_t hash;
    size_t start, size; /* in `bytes` */
} HeldText;

typedef struct {
    char *bytes; /* owned: the texts behind each other, and what is being put together at the end */
    size_t used, room, pending;
    HeldText *held; /* owned */
    int32_t count, capacity;
    int32_t *slots; /* owned: number + 1 by hash, 0: free */
    uint32_t mask;
} Texts;

/* -1: no memory. */
int texts_open(Texts *texts);
void texts_close(Texts *texts);

/* Put a piece to the text that the next texts_number() is about. -1: no memory. */
int texts_add(Texts *texts, const char *piece, size_t size);

/* The number of what was put together; -1: no memory. */
int32_t texts_number(Texts *texts);

#endif
