/* Glimpses: another thread's frames, copied by the kernel, so that an unmapped page gives an error
   number and not a crash. */
#define _GNU_SOURCE
#include "sampler/glimpse.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* A chain that was read while it changed may lead anywhere, also back to where it began. */
enum { PAGE = 4096, PAGES = 2, WINDOWS_AT_MOST = 16, STEPS_AT_MOST = 4 * GLIMPSE_DEPTH };

/* Frames are adjacent: one copy of two pages holds most of a stack, at one moment. */
typedef struct {
    char bytes[PAGES * PAGE];
    uintptr_t start;
    size_t size;
    int copies;
} Window;

static size_t copy(void *to, uintptr_t from, size_t pages, size_t page_size) {
    struct iovec local = {to, pages * page_size}, remote[PAGES];
    for (size_t i = 0; i < pages; i++)
        remote[i] = (struct iovec){(void *)(from + i * page_size), page_size};
    ssize_t copied = process_vm_readv(getpid(), &local, 1, remote, pages, 0);
    return copied > 0 ? (size_t)copied : 0;
}

static int copy_pointer(void **to, const void *from) {
    return copy(to, (uintptr_t)from, 1, sizeof *to) == sizeof *to;
}

/* The running frame, as frame_of() returns it with the GIL held. */
static void *running_frame(PyThreadState *state) {
    void *frame = NULL;
#if !LAYOUT_IS_KNOWN
    return (void)state, frame;
#elif PY_VERSION_HEX >= 0x030d0000
    return copy_pointer(&frame, &state->current_frame) ? frame : NULL;
#else
    void *cframe;
    if (!copy_pointer(&cframe, &state->cframe) || !cframe) return NULL;
    return copy_pointer(&frame, &((_PyCFrame *)cframe)->current_frame) ? frame : NULL;
#endif
}

/* By differences: a torn address may be so high that adding to it would wrap around. */
static int holds(const Window *window, uintptr_t address) {
    return window->size >= sizeof(Frame) && address >= window->start &&
           address - window->start <= window->size - sizeof(Frame);
}

/* 0: it cannot be read. */
static int copy_frame(Window *window, const void *from, Frame *frame) {
    uintptr_t address = (uintptr_t)from;
    if (!holds(window, address)) {
        if (window->copies++ == WINDOWS_AT_MOST) return 0;
        window->start = address & ~(uintptr_t)(PAGE - 1);
        window->size = copy(window->bytes, window->start, PAGES, PAGE);
        if (!holds(window, address)) return 0;
    }
    memcpy(frame, window->bytes + (address - window->start), sizeof *frame);
    return 1;
}

int glimpse_take(Glimpse *glimpse, PyThreadState *state) {
    static Window window; /* used by the heartbeat only */
    Frame frame;
    window.size = 0;
    window.copies = 0;
    glimpse->state = state;
    glimpse->count = 0;
    if (frames_are_public) return 0;
    void *at = running_frame(state);
    for (int step = 0; at && step < STEPS_AT_MOST && glimpse->count < GLIMPSE_DEPTH; step++) {
        void *address = at;
        if (!copy_frame(&window, address, &frame)) break;
        at = frame.previous;
        if (layout_is_interpreters(&frame)) continue;
        glimpse->frames[glimpse->count++] =
            (GlimpseFrame){address, layout_code(&frame), layout_at(&frame)};
    }
    return glimpse->count;
}
