/* Rests: looks of some hundred events, each followed by a rest in proportion to the time it took. */
#include "python/compat.h"
#include "interpreter/rests.h"
#include "clock/clock.h"
#include "interpreter/events.h"

enum {
    OPEN_WRITES = 1,        /* of an opened file */
    LOOK_BYTES = 16 * 1024, /* some 30 steps of a training */
    KEPT_IN_A_REST = 64,    /* events that come once in an epoch */
};

static uint64_t look_began; /* ticks; 0: the first one has not */
static size_t look_from;    /* bytes that were used then */
static uint64_t rest_until; /* ticks; 0: this is a look */
static uint64_t rest_at;    /* offset of its event */
static uint64_t left_out, kept, kept_files;

void rests_begin(void) { look_began = rest_until = 0; }

double rests_factor(const Stream *stream) {
    double half = (double)(stream->limit / 2), left = (double)stream->limit - (double)stream->used;
    if (left >= half) return 1.0;
    double share = left > LOOK_BYTES ? left / half : LOOK_BYTES / half;
    return 1.0 / (share * share);
}

static void begin_look(uint64_t now) {
    look_began = now;
    look_from = events_stream.used;
    rest_until = 0;
}

static void begin_rest(uint64_t now) {
    double took = (double)(now - look_began);
    rest_at = event_add(EVENT_REST, (Event){.start = now}); /* still a look: it is not left out */
    rest_until = now + 1 + (uint64_t)(took * (rests_factor(&events_stream) - 1.0));
    left_out = kept = kept_files = 0;
}

static void end_rest(uint64_t now) {
    Event *rest = event_at(rest_at);
    if (rest && rest->tag == (EVENT_TAG | EVENT_REST)) {
        rest->value0 = left_out;
        rest->end = now;
    }
    begin_look(now);
    event_clock(); /* none was kept meanwhile */
}

/* What shows the epochs of a training. Files that are written count for themselves: a log of every
   step must not take the room of the evaluations. */
static int is_kept(uint32_t kind, uint32_t extra) {
    if (kind == EVENT_OPEN) return extra == OPEN_WRITES && kept_files++ < KEPT_IN_A_REST;
    int is_seldom = kind == EVENT_WINDOW;
    if (kind == EVENT_SPAN)
        is_seldom = extra == SPAN_EVALUATION || extra == SPAN_CHECKPOINT || extra == SPAN_COMPILE;
    return is_seldom && kept++ < KEPT_IN_A_REST;
}

int rests_leave_out(uint32_t kind, uint32_t extra) {
    if (kind == EVENT_REST) return 0;
    uint64_t now = ticks_now();
    if (!look_began) begin_look(now);
    if (rest_until && now >= rest_until) end_rest(now);
    if (!rest_until && events_stream.used - look_from >= LOOK_BYTES) begin_rest(now);
    if (!rest_until || is_kept(kind, extra)) return 0;
    left_out++;
    return 1;
}
