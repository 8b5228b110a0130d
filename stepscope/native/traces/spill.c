/* NumPy's large arrays in files on disk: see spill.h.

   NumPy asks the handler of the context for the memory of each array, and remembers it in the array
   (NEP 49). Ours gives small ones what malloc gives. When the large ones reach the limit, the oldest
   are written to a file without a name, and that is mapped in their place: they keep their address,
   and the system may take their pages away. New ones, most of which are soon gone, stay in memory.
   A thread unmaps the pages of files when too many of them count as ours: they stay in the page
   cache as long as there is room, and come back from there.

   Only arrays of one thread are moved, and only when that thread asks for memory: then nobody writes
   to them. */
#define _GNU_SOURCE
#include "traces/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

enum {
    HUGE_FROM = 1 << 22,             /* as NumPy does: huge pages spare page faults */
    LOOK_EVERY_NS = 4 * 1000 * 1000, /* in that time, a core touches some 20 MB */
};

/* File systems that are memory, or another machine's disk: tmpfs, ramfs, NFS, SMB, CIFS. */
static const long unsuited[] = {0x01021994, 0x858458f6, 0x6969, 0xfe534d42, 0xff534d42};

/* Before the bytes of an array, and as large as keeps them aligned. */
typedef struct Block {
    struct Block *previous, *next;
    size_t size;    /* of the array */
    size_t mapped;  /* bytes, all of it; 0: from malloc */
    size_t is_in_file;
    size_t is_kept; /* in memory: it could not be written */
} Block;

_Static_assert(sizeof(Block) % 16 == 0, "arrays are aligned as malloc aligns");

typedef struct {
    Block *first, *last;
    size_t bytes;
} Blocks;

static struct {
    pthread_mutex_t lock;
    pthread_t owner;
    char folder[4096];
    size_t most, large;   /* bytes: of all in memory; of an array that counts */
    size_t others;        /* resident bytes of files that are none of ours */
    Blocks memory, files; /* of large arrays, oldest first */
    Blocks idle;          /* in memory, without an array: fresh pages cost more than using them */
    int has_thread;
} spill = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void append(Blocks *blocks, Block *block) {
    block->next = NULL;
    block->previous = blocks->last;
    if (blocks->last) blocks->last->next = block;
    else blocks->first = block;
    blocks->last = block;
    blocks->bytes += block->mapped;
}

static void take_out(Blocks *blocks, Block *block) {
    if (block->previous) block->previous->next = block->next;
    else blocks->first = block->next;
    if (block->next) block->next->previous = block->previous;
    else blocks->last = block->previous;
    blocks->bytes -= block->mapped;
}

/* ---- pages of files ----------------------------------------------------------------------------- */

/* Bytes of this process's memory that are of files, or shared. */
static size_t resident_files(void) {
    unsigned long shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%*u %*u %lu", &shared) != 1) shared = 0;
    fclose(file);
    return shared * (size_t)sysconf(_SC_PAGESIZE);
}

/* Until there are no files any more. */
static void *keep_few_pages(void *unused) {
    struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
    pthread_mutex_lock(&spill.lock);
    while (spill.files.first) {
        if (resident_files() > spill.others + spill.most / 2)
            for (Block *each = spill.files.first; each; each = each->next)
                madvise(each, each->mapped, MADV_DONTNEED); /* what is in them stays in the file */
        pthread_mutex_unlock(&spill.lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&spill.lock);
    }
    spill.has_thread = 0;
    pthread_mutex_unlock(&spill.lock);
    return unused;
}

static void require_thread(void) {
    pthread_t thread;
    if (spill.has_thread || pthread_create(&thread, NULL, keep_few_pages, NULL)) return;
    pthread_detach(thread);
    spill.has_thread = 1;
}

/* ---- from memory to a file ---------------------------------------------------------------------- */

static int nameless_file(void) {
    int fd = open(spill.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
    char path[sizeof spill.folder + 16];
    snprintf(path, sizeof path, "%s/arrays-XXXXXX", spill.folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static int write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* A file with these bytes, mapped anywhere. */
static void *mapped_copy(const void *bytes, size_t size) {
    int fd = nameless_file();
    if (fd < 0) return MAP_FAILED;
    void *copy = MAP_FAILED;
    if (!write_all(fd, bytes, size))
        copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return copy;
}

/* -1: the disk is full, say. Nobody can write to the array meanwhile. */
static int move_to_file(Block *block) {
    size_t size = block->mapped;
    void *copy = mapped_copy(block, size);
    if (copy == MAP_FAILED) return -1;
    if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, block) == (void *)block) return 0;
    munmap(copy, size);
    return -1;
}

static int fits(size_t size) {
    return spill.memory.bytes + spill.idle.bytes + size <= spill.most;
}

static void forget(Block *block) {
    take_out(&spill.idle, block);
    munmap(block, block->mapped);
}

/* The oldest first, until so much more fits in. */
static void make_room(size_t size) {
    while (spill.idle.first && !fits(size)) forget(spill.idle.first);
    for (Block *block = spill.memory.first, *next; block; block = next) {
        if (fits(size)) return;
        next = block->next;
        if (block->is_kept) continue;
        if (move_to_file(block)) {
            block->is_kept = 1;
            continue;
        }
        take_out(&spill.memory, block);
        block->is_in_file = 1;
        append(&spill.files, block);
        require_thread();
    }
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static Block *small_block(size_t size, int is_zero) {
    Block *block = is_zero ? calloc(1, sizeof *block + size) : malloc(sizeof *block + size);
    if (block) *block = (Block){.size = size};
    return block;
}

/* The latest of about that size: its pages are the likeliest to be in the processor's cache. */
static Block *idle_block(size_t mapped) {
    for (Block *block = spill.idle.last; block; block = block->previous)
        if (block->mapped >= mapped && block->mapped <= 2 * mapped) {
            take_out(&spill.idle, block);
            return block;
        }
    return NULL;
}

static Block *fresh_block(size_t mapped) {
    make_room(mapped);
    Block *block = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return NULL;
    if (mapped >= HUGE_FROM) madvise(block, mapped, MADV_HUGEPAGE);
    *block = (Block){.mapped = mapped};
    return block;
}

static Block *large_block(size_t size, int is_zero) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (sizeof(Block) + size + page - 1) & ~(page - 1);
    pthread_mutex_lock(&spill.lock);
    Block *idle = idle_block(mapped), *block = idle ? idle : fresh_block(mapped);
    if (block) {
        block->size = size;
        append(&spill.memory, block);
    }
    pthread_mutex_unlock(&spill.lock);
    if (idle && is_zero) memset(idle + 1, 0, size);
    return block;
}

static Block *new_block(size_t size, int is_zero) {
    if (size > PTRDIFF_MAX / 2) return NULL;
    if (size < spill.large || !pthread_equal(pthread_self(), spill.owner)) return small_block(size, is_zero);
    return large_block(size, is_zero);
}

static void free_block(Block *block) {
    if (!block->mapped) {
        free(block);
        return;
    }
    pthread_mutex_lock(&spill.lock);
    take_out(block->is_in_file ? &spill.files : &spill.memory, block);
    append(&spill.idle, block);
    if (block->is_in_file || spill.idle.bytes > spill.most / 4) forget(block);
    pthread_mutex_unlock(&spill.lock);
}

/* ---- what NumPy calls --------------------------------------------------------------------------- */

static void *bytes_of(Block *block) { return block ? block + 1 : NULL; }

static void *give(void *unused, size_t size) {
    (void)unused;
    return bytes_of(new_block(size, 0));
}

static void *give_zeros(void *unused, size_t count, size_t size) {
    (void)unused;
    return __builtin_mul_overflow(count, size, &size) ? NULL : bytes_of(new_block(size, 1));
}

static void take_back(void *unused, void *bytes, size_t size) {
    (void)unused, (void)size;
    if (bytes) free_block((Block *)bytes - 1);
}

static void *resize(void *unused, void *bytes, size_t size) {
    Block *old = bytes ? (Block *)bytes - 1 : NULL;
    void *larger = give(unused, size);
    if (!larger || !old) return larger;
    memcpy(larger, bytes, old->size < size ? old->size : size);
    free_block(old);
    return larger;
}

/* The layout of NumPy's PyDataMem_Handler, since 1.22. */
static struct {
    char name[127];
    uint8_t version;
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *, size_t);
} handler = {"stepscope_spill", 1, NULL, give, give_zeros, resize, take_back};

/* Places in NumPy's table of functions. The first two are what every extension module asks before
   anything else; the others are there since 1.22. */
enum { ABI_VERSION = 0, API_VERSION = 211, SET_HANDLER = 304, GET_HANDLER = 305 };

/* A place never changes its meaning without a new version of the ABI, and tables only grow with the
   API: these are NumPy 1 and 2, and 1.22. */
enum { ABI_1 = 0x01000009, ABI_2 = 0x02000000, API_1_22 = 0xf };

typedef unsigned int (*Version)(void);

/* NULL: this NumPy is none that we know. Its arrays then stay where it puts them. */
static void **numpys_functions(void) {
    PyObject *numpy = PyImport_ImportModule("numpy._core._multiarray_umath");
    if (!numpy) { /* before NumPy 2 */
        PyErr_Clear();
        numpy = PyImport_ImportModule("numpy.core._multiarray_umath");
    }
    PyObject *table = numpy ? PyObject_GetAttrString(numpy, "_ARRAY_API") : NULL;
    void **functions = table ? PyCapsule_GetPointer(table, NULL) : NULL; /* lives as long as NumPy */
    Py_XDECREF(table);
    Py_XDECREF(numpy);
    PyErr_Clear();
    if (!functions || !functions[ABI_VERSION]) return NULL;
    unsigned int abi = ((Version)functions[ABI_VERSION])();
    if ((abi != ABI_1 && abi != ABI_2) || ((Version)functions[API_VERSION])() < API_1_22) return NULL;
    return functions[SET_HANDLER] && functions[GET_HANDLER] ? functions : NULL;
}

/* NULL: NumPy's own. 0: done, and NumPy says so. */
static int set_handler(PyObject *capsule) {
    void **functions = numpys_functions();
    if (!functions) return -1;
    PyObject *before = ((PyObject * (*)(PyObject *)) functions[SET_HANDLER])(capsule);
    PyObject *now = before ? ((PyObject * (*)(void)) functions[GET_HANDLER])() : NULL;
    int is_set = now && (!capsule || now == capsule);
    PyErr_Clear();
    Py_XDECREF(now);
    Py_XDECREF(before);
    return is_set ? 0 : -1;
}

/* ---- what Python calls -------------------------------------------------------------------------- */

static int is_suited(const char *folder) {
    struct statfs found;
    if (strlen(folder) >= sizeof spill.folder || statfs(folder, &found)) return 0;
    for (size_t i = 0; i < sizeof unsuited / sizeof *unsuited; i++)
        if ((long)found.f_type == unsuited[i]) return 0;
    return 1;
}

static int can_map(void) {
    void *copy = mapped_copy("", 1);
    if (copy != MAP_FAILED) munmap(copy, 1);
    return copy != MAP_FAILED;
}

PyObject *spill_to(PyObject *self, PyObject *args) {
    (void)self;
    const char *folder;
    Py_ssize_t most, large;
    if (!PyArg_ParseTuple(args, "snn", &folder, &most, &large)) return NULL;
    if (!is_suited(folder)) Py_RETURN_FALSE;
    strcpy(spill.folder, folder);
    if (!can_map()) Py_RETURN_FALSE;
    spill.most = (size_t)most;
    spill.large = (size_t)large;
    spill.others = resident_files();
    spill.owner = pthread_self();
    PyObject *ours = PyCapsule_New(&handler, "mem_handler", NULL);
    if (!ours) return NULL;
    int is_set = !set_handler(ours);
    Py_DECREF(ours);
    return PyBool_FromLong(is_set);
}

PyObject *spill_sizes(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return Py_BuildValue("nn", (Py_ssize_t)spill.memory.bytes, (Py_ssize_t)spill.files.bytes);
}

PyObject *spill_stop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    set_handler(NULL);
    Py_RETURN_NONE;
}
