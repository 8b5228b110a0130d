/* Mapped storage: what is written here reaches the file, whatever happens to the process. */
#ifndef STEPSCOPE_STORAGE_H
#define STEPSCOPE_STORAGE_H

#include "storage/descriptors.h"
#include "storage/format.h"

#include <limits.h>
#include <stddef.h>

typedef struct {
    char *base;     /* address of the file's first byte; never moves while the stream is open */
    size_t ours;    /* bytes of address space from there on that we have mapped */
    size_t backed;  /* bytes backed by the file (or memory) */
    size_t used;    /* bytes handed out; the file's header repeats it */
    size_t room;    /* where handing out ends: `backed`, or 0 once the stream has stopped */
    size_t limit;   /* this stream's share of --max-size */
    uint32_t state; /* StreamState; the file's header repeats it */
    int in_memory;  /* not backed by a file */
    int is_open;
    int is_log;     /* written once, seldom looked at again: pages need not stay in memory */
    Descriptor file;
    char path[PATH_MAX];
} Stream;

extern Stream events_stream, lines_stream, samples_stream;
extern Stream calls_stream; /* open only with --calls */
extern int storage_is_open;
extern int storage_forked; /* set in a forked child until its storage is reopened */
extern void (*storage_on_fork)(void); /* called in a forked child, before any Python; or NULL */

/* Called when another program has cut a file, inside a signal handler: what was mapped between the
   two addresses is empty memory now, and pointers kept there are gone. Or NULL. */
extern void (*storage_on_loss)(char *from, char *end);

/* 0, or -1 with errno set. folder NULL: memory only. `clock`: what the ticks in it are. */
int storage_open(const char *folder, size_t max_bytes, int calls, uint32_t clock);
void storage_close(void);

/* Room for `bytes` more (a multiple of 8), zeroed; NULL when the stream is full or refused. */
void *stream_take(Stream *stream, size_t bytes);

/* Whether events are needed: a LineProfiler without a recording does not use them. */
static inline int storage_is_kept(void) { return events_stream.file.fd >= 0; }

static inline FileHeader *stream_header(Stream *stream) { return (FileHeader *)stream->base; }
static inline uint64_t stream_offset(Stream *stream, void *at) {
    return (uint64_t)((char *)at - stream->base);
}

#endif
