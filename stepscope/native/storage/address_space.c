/* Address space for the streams. A limit on it (RLIMIT_AS) or on private memory (RLIMIT_DATA, strict
   overcommit) is the script's to use: the streams take a small part of it. */
#define _GNU_SOURCE
#include "storage/address_space.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0 /* older systems take the address as a wish, which is checked */
#endif

enum { TRIED = 32, PART_OF_LIMIT = 32 };
#define APART ((uintptr_t)16 << 30) /* bytes between two streams: the most that one can have */
#define FARTHEST ((uintptr_t)1 << 46)

size_t page_size(void) {
    static size_t bytes;
    if (!bytes) bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

size_t round_to_page(size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

static char *try_at(char *wanted) {
    void *at = mmap(wanted, page_size(), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | (wanted ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (at == MAP_FAILED) return NULL;
    munmap(at, page_size());
    return wanted && at != wanted ? NULL : at;
}

/* Where the system hands out addresses from the top, it is quiet far below the next one; where it does
   so from the bottom (valgrind), far above. Some libraries reserve terabytes right there (a sanitizer's
   allocator does), so each miss doubles the distance. Places of closed streams serve again. */
char *space_find(void) {
    static uintptr_t away; /* of the last one */
    uintptr_t step = APART;
    char *next = try_at(NULL);
    for (int i = 0; next && i < TRIED; i++, step *= 2) {
        if (away + step >= FARTHEST) away = 0, step = APART;
        away += step;
        char *wanted = try_at((uintptr_t)next > away + APART ? next - away : next + away);
        if (wanted) return wanted;
    }
    return next;
}

static int map_piece(char *at, size_t bytes, int how, int fd, size_t offset) {
    int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *got = mmap(at, bytes, PROT_READ | PROT_WRITE, kind | how, fd, (off_t)offset);
    if (got == at) return 0;
    if (got != MAP_FAILED) {
        munmap(got, bytes);
        errno = ENOMEM;
    }
    if (errno == EEXIST) errno = ENOMEM; /* something else has moved in */
    return -1;
}

int space_map(char *at, size_t bytes, char *ours_until, int fd, size_t offset) {
    size_t ours = ours_until > at ? (size_t)(ours_until - at) : 0;
    if (ours > bytes) ours = bytes;
    if (ours < bytes &&
        map_piece(at + ours, bytes - ours, MAP_FIXED_NOREPLACE, fd, fd < 0 ? 0 : offset + ours))
        return -1;
    return ours ? map_piece(at, ours, MAP_FIXED, fd, offset) : 0;
}

/* Shared memory is not counted by RLIMIT_DATA, and what cannot be written by no limit at all. */
int space_empty(char *at, size_t bytes, int or_readable) {
    int ways[][2] = {{PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE},
                     {PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE},
                     {PROT_READ, MAP_PRIVATE | MAP_NORESERVE}};
    for (int i = 0; i < 2 + or_readable; i++)
        if (mmap(at, bytes, ways[i][0], ways[i][1] | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
            return 0;
    return -1;
}

static int is_small_part(size_t bytes, int resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY) return 1;
    return bytes <= limit.rlim_cur / PART_OF_LIMIT;
}

int space_is_allowed(size_t bytes, int in_memory) {
    return is_small_part(bytes, RLIMIT_AS) && (!in_memory || is_small_part(bytes, RLIMIT_DATA));
}
