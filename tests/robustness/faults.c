/* Preloaded into a recorded script: the system calls of the recorder fail when they are told to.

   FAULT_FOLDER  calls count whose file is below it, or that our native core makes
   FAULT_AT      which of them fails, counted from 1
   FAULT_LAST    the last one that does; 0: all after it
   FAULT_WITH    the error's number; 0: a write that writes half
   FAULT_SAID    a file that is made when a call was made to fail */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static int is_below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return path && folder && !strncmp(path, folder, strlen(folder));
}

static int is_open_below(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = fd < 0 ? -1 : readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_our_core(void *caller) {
    Dl_info about;
    return dladdr(caller, &about) && about.dli_fname && strstr(about.dli_fname, "native/_core.");
}

/* Whether this call fails. errno says how; 0: half of it is done. */
static int fails(int counts) {
    static long calls;
    if (!counts || !getenv("STEPSCOPE_RUN")) return 0;
    long call = ++calls, last = number("FAULT_LAST");
    if (call < number("FAULT_AT") || (last && call > last)) return 0;
    int is_retry = (call - number("FAULT_AT")) % 2; /* no signal comes each time: Python would try for ever */
    if (number("FAULT_WITH") == EINTR && is_retry) return 0;
    int said = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULT_SAID"), O_CREAT | O_WRONLY, 0644);
    if (said >= 0) syscall(SYS_close, said);
    errno = (int)number("FAULT_WITH");
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define COUNTS(is_named) ((is_named) || is_our_core(__builtin_return_address(0)))

#define OPENS(name)                                                                    \
    int name(const char *path, int flags, ...) {                                       \
        va_list more;                                                                  \
        va_start(more, flags);                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;              \
        va_end(more);                                                                  \
        if (fails(COUNTS(is_below(path))) && errno) return -1;                         \
        return REAL(name)(path, flags, mode);                                          \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                                 \
    int name(int folder, const char *path, int flags, ...) {                           \
        va_list more;                                                                  \
        va_start(more, flags);                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;              \
        va_end(more);                                                                  \
        if (fails(COUNTS(is_below(path))) && errno) return -1;                         \
        return REAL(name)(folder, path, flags, mode);                                  \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
    if (!fails(COUNTS(is_open_below(fd)))) return REAL(write)(fd, data, size);
    return errno ? -1 : REAL(write)(fd, data, (size + 1) / 2);
}

#define WRITES_AT(name, offset_type)                                                   \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) {          \
        if (!fails(COUNTS(is_open_below(fd)))) return REAL(name)(fd, data, size, offset); \
        return errno ? -1 : REAL(name)(fd, data, (size + 1) / 2, offset);              \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

#define MAPS(name, offset_type)                                                        \
    void *name(void *at, size_t size, int access, int flags, int fd, offset_type offset) { \
        if (fails(COUNTS(is_open_below(fd))) && errno) return MAP_FAILED;              \
        return REAL(name)(at, size, access, flags, fd, offset);                        \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

#define CUTS(name, offset_type)                                                        \
    int name(int fd, offset_type size) {                                               \
        if (fails(COUNTS(is_open_below(fd))) && errno) return -1;                      \
        return REAL(name)(fd, size);                                                   \
    }
CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

#define ALLOCATES(name, offset_type)                                                   \
    int name(int fd, offset_type offset, offset_type size) {                           \
        if (fails(COUNTS(is_open_below(fd))) && errno) return errno;                   \
        return REAL(name)(fd, offset, size);                                           \
    }
ALLOCATES(posix_fallocate, off_t)
ALLOCATES(posix_fallocate64, off64_t)

/* ---- what is read and asked --------------------------------------------------------------------- */

ssize_t read(int fd, void *data, size_t size) {
    if (!fails(COUNTS(is_open_below(fd)))) return REAL(read)(fd, data, size);
    return errno ? -1 : REAL(read)(fd, data, (size + 1) / 2);
}

#define READS_AT(name, offset_type)                                                    \
    ssize_t name(int fd, void *data, size_t size, offset_type offset) {                \
        if (!fails(COUNTS(is_open_below(fd)))) return REAL(name)(fd, data, size, offset); \
        return errno ? -1 : REAL(name)(fd, data, (size + 1) / 2, offset);              \
    }
READS_AT(pread, off_t)
READS_AT(pread64, off64_t)

int fstat(int fd, struct stat *about) {
    if (fails(COUNTS(is_open_below(fd))) && errno) return -1;
    return REAL(fstat)(fd, about);
}

#define ASKS(name)                                                                     \
    int name(const char *path, struct stat *about) {                                   \
        if (fails(COUNTS(is_below(path))) && errno) return -1;                         \
        return REAL(name)(path, about);                                                \
    }
ASKS(stat)
ASKS(lstat)

int fcntl(int fd, int command, ...) {
    va_list more;
    va_start(more, command);
    long argument = va_arg(more, long);
    va_end(more);
    if (fails(COUNTS(0)) && errno) return -1;
    return REAL(fcntl)(fd, command, argument);
}

/* ---- memory, threads and signals of our core ---------------------------------------------------- */

int madvise(void *at, size_t size, int advice) {
    if (fails(COUNTS(0)) && errno) return -1;
    return REAL(madvise)(at, size, advice);
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size) { return fails(COUNTS(0)) && errno ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return fails(COUNTS(0)) && errno ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return fails(COUNTS(0)) && errno ? NULL : __libc_realloc(old, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*start)(void *), void *of) {
    if (fails(COUNTS(0)) && errno) return errno;
    return REAL(pthread_create)(thread, how, start, of);
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *)) {
    if (fails(COUNTS(0)) && errno) return errno;
    return REAL(pthread_key_create)(key, destroy);
}

int sigaction(int number, const struct sigaction *to, struct sigaction *before) {
    if (fails(COUNTS(0)) && errno) return -1;
    return REAL(sigaction)(number, to, before);
}

/* ---- names in the folder ------------------------------------------------------------------------ */

int unlink(const char *path) {
    if (fails(COUNTS(is_below(path))) && errno) return -1;
    return REAL(unlink)(path);
}

int chmod(const char *path, mode_t mode) {
    if (fails(COUNTS(is_below(path))) && errno) return -1;
    return REAL(chmod)(path, mode);
}

int fsync(int fd) {
    if (fails(COUNTS(is_open_below(fd))) && errno) return -1;
    return REAL(fsync)(fd);
}

int rename(const char *from, const char *to) {
    if (fails(COUNTS(is_below(to))) && errno) return -1;
    return REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    if (fails(COUNTS(is_below(path))) && errno) return -1;
    return REAL(mkdir)(path, mode);
}
