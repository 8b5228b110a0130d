/* Glimpses: another thread's frames, copied by the kernel, so that an unmapped page gives an error
   number and not a crash. */
#define _GNU_SOURCE
#include "sampler/glimpse.h"
#include "clock/clock.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LATE_AFTER_NS = 300000 };
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

/* Up to `depth` frames; returns how many. */
static int read_frames(PyThreadState *state, GlimpseFrame *frames, int depth) {
    static Window window; /* used by the heartbeat only */
    Frame frame;
    int count = 0;
    window.size = 0;
    window.copies = 0;
    void *at = layout_frame_from_afar(state, copy_pointer);
    for (int step = 0; at && step < STEPS_AT_MOST && count < depth; step++) {
        void *address = at;
        if (!copy_frame(&window, address, &frame)) break;
        at = frame.previous;
        if (layout_is_interpreters(&frame)) continue;
        frames[count++] = (GlimpseFrame){address, layout_code(&frame), layout_at(&frame)};
    }
    return count;
}

static int is_still_there(const Glimpse *glimpse) {
    GlimpseFrame now, then = glimpse->frames[0];
    return read_frames(glimpse->state, &now, 1) && now.frame == then.frame && now.code == then.code &&
           now.at == then.at;
}

/* Asking the kernel takes a microsecond or two: the interpreter executes dozens of instructions in
   that time. In a very short loop it may be back at one, but hardly twice. */
static void look_again(Glimpse *glimpse) {
    uint64_t cpu_ns = activity_cpu_ns(glimpse->native);
    glimpse->activity = activity_of(glimpse->native);
    if (glimpse->activity != ACTIVITY_RUNS || !is_still_there(glimpse)) return;
    glimpse->had_core = activity_cpu_ns(glimpse->native) > cpu_ns;
    glimpse->stays = is_still_there(glimpse);
}

/* If we had no core ourselves, or waited for the lock of the address space that an munmap() held,
   the thread had time to finish any call. */
static void add_activity(Glimpse *glimpse, uint64_t began) {
    look_again(glimpse);
    if (glimpse->activity == ACTIVITY_RUNS && ticks_now() - began > ns_to_ticks(LATE_AFTER_NS))
        glimpse->activity = ACTIVITY_UNKNOWN;
}

int glimpse_take(Glimpse *glimpse, PyThreadState *state, unsigned long native) {
    uint64_t began = ticks_now();
    glimpse->state = state;
    glimpse->native = native;
    glimpse->activity = ACTIVITY_UNKNOWN;
    glimpse->stays = glimpse->had_core = glimpse->awaits_work = 0;
    glimpse->count = frames_are_public ? 0 : read_frames(state, glimpse->frames, GLIMPSE_DEPTH);
    if (glimpse->count) add_activity(glimpse, began);
    return glimpse->count;
}
