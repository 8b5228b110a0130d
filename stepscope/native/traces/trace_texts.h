/* Repeated texts, each stored once and identified by its number. */
#ifndef STEPSCOPE_TRACE_TEXTS_H
#define STEPSCOPE_TRACE_TEXTS_H

#include "traces/trace_json.h"

typedef struct {
    uint64_t hash;
    size_t start, size; /* in `bytes` */
} HeldText;

typedef struct {
    char *bytes; /* owned: the texts one after another, and at the end the one being assembled */
    size_t used, room, pending;
    HeldText *held; /* owned */
    int32_t count, capacity;
    int32_t *slots; /* owned: number + 1 by hash, 0: free */
    uint32_t mask;
} Texts;

/* -1: no memory. */
int texts_open(Texts *texts);
void texts_close(Texts *texts);

/* Append a piece to the text that the next texts_number() numbers. -1: no memory. */
int texts_add(Texts *texts, const char *piece, size_t size);

/* The number of the assembled text; -1: no memory. */
int32_t texts_number(Texts *texts);

#endif
