/* Stacks: the frames of a thread, and those that a glimpse saw before the thread continued. */
#include "sampler/stack.h"
#include "python/code_notes.h"

enum { COMMON_WITHIN = 512 }; /* frames to search for one that the glimpse also saw */

/* Frames, innermost first: the first ones, and the last ones of the rest. */
typedef struct {
    Spot inner[STACK_INNER], ring[STACK_OUTER];
    int seen;
} Frames;

static void push(Frames *frames, Spot spot) {
    if (frames->seen < STACK_INNER) frames->inner[frames->seen] = spot;
    else frames->ring[(frames->seen - STACK_INNER) % STACK_OUTER] = spot;
    frames->seen++;
}

static int outermost_first(const Frames *frames, Spot *spots) {
    int seen = frames->seen, count = 0, is_cut = seen > STACK_INNER + STACK_OUTER;
    int inmost_of_ring = is_cut ? seen - STACK_OUTER : STACK_INNER;
    for (int i = seen - 1; i >= inmost_of_ring; i--)
        spots[count++] = frames->ring[(i - STACK_INNER) % STACK_OUTER];
    if (is_cut) spots[count++] = (Spot){NULL, 0};
    for (int i = (seen < STACK_INNER ? seen : STACK_INNER) - 1; i >= 0; i--)
        spots[count++] = frames->inner[i];
    return count;
}

/* ---- what the glimpse adds ------------------------------------------------------------------------ */

/* Byte offset of an instruction's address; -1: outside, or before the function begins. */
static int offset_in(PyObject *object, const void *at) {
    PyCodeObject *code = (PyCodeObject *)object;
    ptrdiff_t offset = (const char *)at - code_units(object);
    ptrdiff_t first = code->_co_firsttraceable * (ptrdiff_t)sizeof(_Py_CODEUNIT);
    ptrdiff_t end = Py_SIZE(code) * (ptrdiff_t)sizeof(_Py_CODEUNIT);
    return offset >= first && offset < end ? (int)offset : -1;
}

/* Index in the glimpse of the innermost frame that is still there, and that frame; -1: none is. */
static int find_common(PyThreadState *tstate, const Glimpse *glimpse, Frame **common) {
    Frame *frame = frame_of(tstate);
    for (int looked = 0; frame && looked < COMMON_WITHIN; looked++, frame = frame_previous(frame))
        for (int i = 0; i < glimpse->count; i++) {
            const GlimpseFrame *then = &glimpse->frames[i];
            if (then->frame != (void *)frame || then->code != (void *)frame_code(frame)) continue;
            *common = frame;
            return i;
        }
    return -1;
}

/* Pushes the frames that have ended since, and their caller at the place where it was then.
   Returns the frame to continue from. */
static Frame *push_glimpse(Frames *frames, PyThreadState *tstate, const Glimpse *glimpse) {
    Frame *common = NULL;
    int index = find_common(tstate, glimpse, &common);
    if (index < 0) return frame_of(tstate);
    for (int i = 0; i < index; i++) {
        PyObject *code = glimpse->frames[i].code;
        int offset = code_notes_of(code) ? offset_in(code, glimpse->frames[i].at) : -1;
        if (offset >= 0) push(frames, (Spot){code, offset});
    }
    if (frame_is_not_code(common)) return common;
    int offset = offset_in(frame_code(common), glimpse->frames[index].at);
    if (offset < 0) return common;
    push(frames, (Spot){frame_code(common), offset});
    return frame_previous(common);
}

int stack_walk(PyThreadState *tstate, const Glimpse *glimpse, Spot *spots) {
    static Frames frames; /* used by the heartbeat only; 8 KB */
    frames.seen = 0;
    Frame *frame = glimpse ? push_glimpse(&frames, tstate, glimpse) : frame_of(tstate);
    for (; frame; frame = frame_previous(frame)) {
        if (frame_is_not_code(frame)) continue;
        if (frames.seen < STACK_INNER) code_notes_for(frame_code(frame)); /* known to be alive, from now on */
        push(&frames, (Spot){frame_code(frame), frame_offset(frame)});
    }
    return outermost_first(&frames, spots);
}
