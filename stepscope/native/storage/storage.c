/* Mapped storage: files mapped chunk by chunk, each in a place of its own, never moved. */
#define _GNU_SOURCE
#include "storage/storage.h"
#include "storage/address_space.h"
#include "storage/bus_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_MIN = 256 * 1024, CHUNK_MAX = 2 * 1024 * 1024, STREAMS = 4 };

Stream events_stream = {.file = NO_DESCRIPTOR, .is_log = 1}, lines_stream = {.file = NO_DESCRIPTOR};
Stream samples_stream = {.file = NO_DESCRIPTOR, .is_log = 1}, calls_stream = {.file = NO_DESCRIPTOR};
int storage_is_open, storage_forked;
void (*storage_on_fork)(void);
void (*storage_on_loss)(char *from, char *end);

static Stream *const all[STREAMS] = {&events_stream, &lines_stream, &samples_stream, &calls_stream};
static uint32_t clock_of_ticks;

/* ---- stopping ------------------------------------------------------------------------------------- */

static void stop(Stream *stream, uint32_t state) {
    stream->room = 0;
    stream->state = state;
    stream_header(stream)->state = state;
}

/* Another program has cut the file: from there on the stream continues in memory, for those who have
   addresses in it, and takes nothing new. 0: no memory for that. */
static int lose_from(Stream *stream, char *address) {
    char *from = stream->base + (size_t)(address - stream->base) / page_size() * page_size();
    char *end = stream->base + stream->backed;
    if (from < end && space_empty(from, (size_t)(end - from), 0)) return 0;
    stop(stream, STREAM_LOST);
    if (storage_on_loss) storage_on_loss(from, end);
    return 1;
}

static int mend(void *address) {
    char *at = address;
    for (int i = 0; i < STREAMS; i++)
        if (all[i]->base && at >= all[i]->base && at < all[i]->base + all[i]->backed)
            return lose_from(all[i], at);
    return 0;
}

static uint32_t state_after(int error) {
    if (error == EFBIG) return STREAM_FULL;
    if (error == ESTALE) return STREAM_LOST;
    return error == ENOMEM || error == EAGAIN ? STREAM_NO_MEMORY : STREAM_REFUSED;
}

/* ---- growing -------------------------------------------------------------------------------------- */

/* Beyond RLIMIT_FSIZE the system would send SIGXFSZ, which kills a script that does not ignore it. */
static int file_may_have(size_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit)) return 1;
    return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* 0, or why not. Space first, mapping second: a mapped hole on a full disk is a SIGBUS. */
static int lengthen(Stream *stream, size_t chunk) {
    struct stat about;
    int refused;
    if (!descriptor_is_ours(&stream->file) &&
        descriptor_reopen(&stream->file, stream->path, O_RDWR))
        return errno;
    if (!fstat(stream->file.fd, &about) && (size_t)about.st_size < stream->backed) {
        lose_from(stream, stream->base + about.st_size);
        return ESTALE;
    }
    if (!file_may_have(stream->backed + chunk)) return ENOSPC;
    do refused = posix_fallocate(stream->file.fd, (off_t)stream->backed, (off_t)chunk);
    while (refused == EINTR);
    return refused;
}

/* What the streams have in the process, with `chunk` more for one of them. */
static size_t total_with(size_t chunk) {
    for (int i = 0; i < STREAMS; i++) chunk += all[i]->ours;
    return chunk;
}

/* The pages stay in the file; the process does not need them. */
static void let_go_of_pages(Stream *stream) {
    size_t written = stream->used / page_size() * page_size();
    if (stream->is_log && !stream->in_memory && written > page_size())
        madvise(stream->base + page_size(), written - page_size(), MADV_DONTNEED);
}

static size_t next_chunk(const Stream *stream, size_t needed) {
    size_t chunk = stream->backed / 4, left = stream->limit - stream->backed;
    if (chunk < CHUNK_MIN) chunk = CHUNK_MIN;
    if (chunk > CHUNK_MAX) chunk = CHUNK_MAX;
    if (chunk < needed) chunk = needed;
    if (chunk > left && left >= needed) chunk = left;
    return round_to_page(chunk);
}

/* 0, or -1: the limit is reached (errno EFBIG) or the system refused (errno says why). */
static int grow(Stream *stream, size_t needed) {
    size_t chunk = next_chunk(stream, needed);
    if (stream->backed + chunk > stream->limit) errno = EFBIG;
    else if (!space_is_allowed(total_with(chunk), stream->in_memory)) errno = ENOMEM;
    else if (stream->in_memory) errno = 0;
    else errno = lengthen(stream, chunk);
    if (errno) return -1;
    if (space_map(stream->base + stream->backed, chunk, stream->base + stream->ours,
                  stream->in_memory ? -1 : stream->file.fd, stream->backed))
        return -1;
    let_go_of_pages(stream);
    stream->backed += chunk;
    if (stream->ours < stream->backed) stream->ours = stream->backed;
    stream->room = stream->backed;
    return 0;
}

static int make_room(Stream *stream, size_t bytes) {
    if (!stream->room) return -1;
    if (!grow(stream, bytes)) return 0;
    stop(stream, state_after(errno));
    return -1;
}

void *stream_take(Stream *stream, size_t bytes) {
    size_t used = stream->used;
    if (__builtin_expect(used + bytes > stream->room, 0) && make_room(stream, bytes)) return NULL;
    stream_header(stream)->used = stream->used = used + bytes;
    return stream->base + used;
}

/* ---- opening -------------------------------------------------------------------------------------- */

static void write_header(Stream *stream, uint32_t kind) {
    FileHeader *header = stream_header(stream);
    memcpy(header->magic, FORMAT_MAGIC, sizeof header->magic);
    header->version = FORMAT_VERSION;
    header->stream = kind;
    header->base = (uint64_t)(uintptr_t)stream->base;
    header->used = stream->used = sizeof *header;
    header->clock = clock_of_ticks;
    header->state = stream->state = STREAM_GROWING;
}

static int open_file(Stream *stream, const char *folder, const char *name) {
    int length = snprintf(stream->path, sizeof stream->path, "%s/%s", folder, name);
    if ((size_t)length < sizeof stream->path)
        return descriptor_open(&stream->file, stream->path, O_RDWR | O_CREAT | O_EXCL);
    errno = ENAMETOOLONG;
    return -1;
}

/* Where it was before, if nothing else has moved in since. */
static int place(Stream *stream) {
    if (stream->base && !grow(stream, CHUNK_MIN)) return 0;
    if (stream->ours) return -1; /* the place is not to blame */
    if ((stream->base = space_find())) return grow(stream, CHUNK_MIN);
    return -1;
}

static int open_stream(Stream *stream, const char *folder, const char *name, uint32_t kind,
                       size_t limit) {
    limit = limit < CHUNK_MIN ? CHUNK_MIN : limit;
    stream->limit = limit / page_size() * page_size();
    stream->backed = stream->room = stream->used = 0;
    stream->in_memory = folder == NULL;
    if (folder && open_file(stream, folder, name)) return -1;
    if (place(stream)) return -1;
    write_header(stream, kind);
    stream->is_open = 1;
    return 0;
}

/* ---- leaving -------------------------------------------------------------------------------------- */

/* Counters and stacks have addresses in use until the calls that hold them return, so memory takes
   the place of the file. 0: the file is still mapped. */
static int take_file_out(Stream *stream, int or_readable) {
    if (stream->is_log) {
        munmap(stream->base, stream->ours);
        stream->ours = 0;
    } else if (stream->backed && space_empty(stream->base, stream->backed, or_readable) < 0) {
        return 0;
    }
    stream->backed = 0;
    return 1;
}

static void leave_to_parent(Stream *stream) {
    if (!stream->is_open) return;
    stream->room = stream->used = 0;
    if (!take_file_out(stream, 1)) {
        munmap(stream->base, stream->ours);
        stream->backed = stream->ours = 0;
    }
    descriptor_close(&stream->file);
}

/* A forked child shares the parent's pages and would write into the parent's counters. This runs
   before any Python in the child. */
static void after_fork_in_child(void) {
    if (!storage_is_open) return;
    storage_forked = 1;
    for (int i = 0; i < STREAMS; i++) leave_to_parent(all[i]);
    if (storage_on_fork) storage_on_fork();
}

static void watch_forks(void) {
    static int watching;
    if (!watching) watching = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
}

/* Zeros after the last record do no harm: a failed ftruncate changes nothing for readers. Where the
   file is still mapped, nothing is cut off: that would be a SIGBUS. */
static void close_stream(Stream *stream) {
    off_t used = (off_t)stream->used;
    stream->is_open = 0;
    stream->room = stream->used = 0;
    int is_out = !stream->base || take_file_out(stream, 0);
    if (is_out && used && stream->state != STREAM_LOST && descriptor_is_ours(&stream->file) &&
        ftruncate(stream->file.fd, used))
        errno = 0;
    descriptor_close(&stream->file);
}

static int open_all(const char *folder, size_t max_bytes, int calls) {
    if (open_stream(&events_stream, folder, "events.bin", STREAM_EVENTS,
                    calls ? max_bytes / 8 : max_bytes / 2) ||
        open_stream(&lines_stream, folder, "lines.bin", STREAM_LINES, max_bytes / 4))
        return -1;
    if (folder && open_stream(&samples_stream, folder, "samples.bin", STREAM_SAMPLES, max_bytes / 8))
        close_stream(&samples_stream); /* nothing else needs it: recording continues without */
    if (calls && open_stream(&calls_stream, folder, "calls.bin", STREAM_CALLS, max_bytes / 2))
        close_stream(&calls_stream);
    return 0;
}

int storage_open(const char *folder, size_t max_bytes, int calls, uint32_t clock) {
    watch_forks();
    clock_of_ticks = clock;
    if (folder) bus_guard_begin(mend); /* before the first write */
    if (open_all(folder, max_bytes, calls)) {
        int why = errno;
        for (int i = 0; i < STREAMS; i++) close_stream(all[i]);
        bus_guard_end();
        errno = why;
        return -1;
    }
    storage_is_open = 1;
    storage_forked = 0;
    return 0;
}

void storage_close(void) {
    if (!storage_is_open) return;
    storage_is_open = 0;
    for (int i = 0; i < STREAMS; i++)
        if (all[i]->is_open) close_stream(all[i]);
    bus_guard_end();
}
