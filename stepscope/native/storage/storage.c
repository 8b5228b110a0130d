/* Mapped storage: one reserved range, files mapped into it chunk by chunk, never moved. */
#define _GNU_SOURCE
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK_MIN = 256 * 1024, CHUNK_MAX = 8 * 1024 * 1024 };
#define RESERVE_BYTES ((size_t)2 << 30)

Stream events_stream = {.file = NO_DESCRIPTOR}, lines_stream = {.file = NO_DESCRIPTOR};
Stream samples_stream = {.file = NO_DESCRIPTOR}, calls_stream = {.file = NO_DESCRIPTOR};
int storage_is_open, storage_forked;
void (*storage_on_fork)(void);
static uint32_t clock_of_ticks;

static size_t round_to_page(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Address space only: nothing is backed. A low RLIMIT_AS may refuse 2 GiB; then take less. */
static int reserve(Stream *stream, size_t at_least) {
    at_least = round_to_page(at_least);
    if (stream->base && stream->reserved >= at_least) return 0;
    size_t wanted = at_least > RESERVE_BYTES ? at_least : RESERVE_BYTES;
    for (;; wanted = at_least) {
        void *base = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1, 0);
        if (base != MAP_FAILED) {
            stream->base = base; /* an earlier, smaller range stays: old counters point there */
            stream->reserved = wanted;
            return 0;
        }
        if (wanted == at_least) return -1;
    }
}

/* Beyond RLIMIT_FSIZE the system would send SIGXFSZ, which kills a script that does not ignore it. */
static int file_may_have(size_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit)) return 1;
    return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* Space first, mapping second: a mapped hole on a full disk is a SIGBUS. */
static int back_with_file(Stream *stream, size_t chunk) {
    if (!descriptor_is_ours(&stream->file) &&
        descriptor_reopen(&stream->file, stream->path, O_RDWR))
        return -1;
    int refused = file_may_have(stream->backed + chunk)
                      ? posix_fallocate(stream->file.fd, (off_t)stream->backed, (off_t)chunk)
                      : ENOSPC;
    if (refused) {
        errno = refused;
        return -1;
    }
    void *at = mmap(stream->base + stream->backed, chunk, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, stream->file.fd, (off_t)stream->backed);
    return at == MAP_FAILED ? -1 : 0;
}

static int back_with_memory(Stream *stream, size_t chunk) {
    void *at = mmap(stream->base + stream->backed, chunk, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? -1 : 0;
}

/* 0, or -1: the limit is reached (errno EFBIG) or the system refused (errno says why). */
static int grow(Stream *stream, size_t needed) {
    size_t chunk = stream->backed / 4;
    if (chunk < CHUNK_MIN) chunk = CHUNK_MIN;
    if (chunk > CHUNK_MAX) chunk = CHUNK_MAX;
    if (chunk < needed) chunk = needed;
    chunk = round_to_page(chunk);
    if (stream->backed + chunk > stream->limit) {
        errno = EFBIG;
        return -1;
    }
    int failed = stream->in_memory ? back_with_memory(stream, chunk) : back_with_file(stream, chunk);
    if (failed) return -1;
    stream->backed += chunk;
    return 0;
}

void *stream_take(Stream *stream, size_t bytes) {
    FileHeader *header = stream_header(stream);
    if (header->state != STREAM_GROWING) return NULL;
    if (header->used + bytes > stream->backed && grow(stream, bytes)) {
        header->state = errno == EFBIG ? STREAM_FULL : STREAM_REFUSED;
        return NULL;
    }
    void *at = stream->base + header->used;
    header->used += bytes;
    return at;
}

static void write_header(Stream *stream, uint32_t kind) {
    FileHeader *header = stream_header(stream);
    memcpy(header->magic, FORMAT_MAGIC, sizeof header->magic);
    header->version = FORMAT_VERSION;
    header->stream = kind;
    header->base = (uint64_t)(uintptr_t)stream->base;
    header->used = sizeof *header;
    header->clock = clock_of_ticks;
    header->state = STREAM_GROWING;
}

static int open_stream(Stream *stream, const char *folder, const char *name, uint32_t kind,
                       size_t limit) {
    stream->limit = limit < CHUNK_MIN ? CHUNK_MIN : limit;
    stream->backed = 0;
    stream->in_memory = folder == NULL;
    if (reserve(stream, stream->limit)) return -1;
    if (folder) {
        int length = snprintf(stream->path, sizeof stream->path, "%s/%s", folder, name);
        if ((size_t)length >= sizeof stream->path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (descriptor_open(&stream->file, stream->path, O_RDWR | O_CREAT | O_EXCL)) return -1;
    }
    if (grow(stream, CHUNK_MIN)) return -1;
    write_header(stream, kind);
    stream->is_open = 1;
    return 0;
}

/* Late readers of the range must find memory, so the files are replaced and not unmapped. */
static void detach(Stream *stream) {
    if (!stream->base) return;
    mmap(stream->base, stream->reserved, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    stream->backed = stream->reserved;
}

static void leave_to_parent(Stream *stream, uint32_t kind) {
    if (!stream->is_open) return;
    detach(stream);
    descriptor_close(&stream->file);
    write_header(stream, kind);
}

/* A forked child shares the parent's pages and would write into the parent's counters. This runs
   before any Python in the child. */
static void after_fork_in_child(void) {
    if (!storage_is_open) return;
    storage_forked = 1;
    leave_to_parent(&events_stream, STREAM_EVENTS);
    leave_to_parent(&lines_stream, STREAM_LINES);
    leave_to_parent(&samples_stream, STREAM_SAMPLES);
    leave_to_parent(&calls_stream, STREAM_CALLS);
    if (storage_on_fork) storage_on_fork();
}

static void watch_forks(void) {
    static int watching;
    if (!watching) watching = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
}

static void give_up(Stream *stream) {
    stream->is_open = 0;
    detach(stream);
    descriptor_close(&stream->file);
}

int storage_open(const char *folder, size_t max_bytes, int calls, uint32_t clock) {
    watch_forks();
    clock_of_ticks = clock;
    if (open_stream(&events_stream, folder, "events.bin", STREAM_EVENTS,
                    calls ? max_bytes / 8 : max_bytes / 2) ||
        open_stream(&lines_stream, folder, "lines.bin", STREAM_LINES, max_bytes / 4)) {
        int why = errno;
        give_up(&events_stream);
        give_up(&lines_stream);
        errno = why;
        return -1;
    }
    if (folder && open_stream(&samples_stream, folder, "samples.bin", STREAM_SAMPLES, max_bytes / 8))
        give_up(&samples_stream); /* nothing else needs it: recording continues without */
    if (calls && open_stream(&calls_stream, folder, "calls.bin", STREAM_CALLS, max_bytes / 2))
        give_up(&calls_stream);
    storage_is_open = 1;
    storage_forked = 0;
    return 0;
}

/* Zeros after the last record do no harm: a failed ftruncate changes nothing for readers. */
static void close_stream(Stream *stream) {
    if (!stream->is_open) return;
    stream->is_open = 0;
    off_t used = (off_t)stream_header(stream)->used;
    detach(stream);
    if (descriptor_is_ours(&stream->file) && ftruncate(stream->file.fd, used)) errno = 0;
    descriptor_close(&stream->file);
}

void storage_close(void) {
    if (!storage_is_open) return;
    storage_is_open = 0;
    close_stream(&events_stream);
    close_stream(&lines_stream);
    close_stream(&samples_stream);
    close_stream(&calls_stream);
}
