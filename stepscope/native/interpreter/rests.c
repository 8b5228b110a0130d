/* Rests: looks of some hundred events, each followed by a rest in proportion to the time it took. */
#include "python/compat.h"
#include "interpreter/rests.h"
#include "clock/clock.h"
#include "interpreter/events.h"

#include <string.h>

enum {
    OPEN_WRITES = 1,        /* of an opened file */
    LOOK_BYTES = 16 * 1024, /* some 30 steps of a training */
    EVENTS_IN_A_LOOK = LOOK_BYTES / sizeof(Event),
    KEPT_IN_A_REST = 64,    /* evaluations and the like; and as many files */
    RESERVED_SHARE = 16,    /* of the room, for the epochs of the rests */
    PLACES = 256, TRIED_PLACES = 4,
};

/* When such a thing last came: a loop turned, a region was entered. */
typedef struct {
    uint32_t kind, name;
    uint64_t last; /* how many events there had been by then */
} Came;

static uint64_t look_began; /* ticks; 0: the first one has not */
static size_t look_from;    /* bytes that were used then */
static uint64_t rest_until; /* ticks; 0: this is a look */
static uint64_t rest_at;    /* offset of its event */
static uint64_t seen;       /* events, those that were left out as well */
static uint64_t left_out, kept, kept_files;
static Came came[PLACES];

void rests_begin(void) {
    look_began = rest_until = 0;
    memset(came, 0, sizeof came);
    seen = EVENTS_IN_A_LOOK; /* all places are free */
}

double rests_factor(const Stream *stream) {
    double all = (double)(stream->limit - stream->limit / RESERVED_SHARE);
    double second = all - (double)(stream->limit / 2), left = all - (double)stream->used;
    if (left >= second) return 1.0;
    double share = left > LOOK_BYTES ? left / second : LOOK_BYTES / second;
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

/* Its own place, or one that nothing frequent has; NULL: there is none. */
static Came *place_of(uint32_t kind, uint32_t name) {
    for (uint32_t i = 0; i < TRIED_PLACES; i++) {
        Came *place = &came[(kind * 31 + name + i) % PLACES];
        if (place->kind == kind && place->name == name) return place;
        if (seen - place->last < EVENTS_IN_A_LOOK) continue;
        *place = (Came){.kind = kind, .name = name};
        return place;
    }
    return NULL;
}

static int is_once_an_epoch(uint32_t category) {
    return category == SPAN_EVALUATION || category == SPAN_CHECKPOINT || category == SPAN_COMPILE;
}

static int shows_epochs(uint32_t kind, uint32_t extra) {
    if (kind == EVENT_OPEN) return extra == OPEN_WRITES;
    if (kind == EVENT_SPAN) return extra == SPAN_REGION || extra == SPAN_ACTION || is_once_an_epoch(extra);
    return kind == EVENT_LOOP;
}

/* What comes less than once in as many events as a look has is around the steps: an epoch. Not in as
   much time: a look in which the script had no core takes long. */
static int is_around_steps(uint32_t kind, const Event *event) {
    if (!shows_epochs(kind, event->extra)) return 0;
    Came *place = place_of(kind, event->name);
    if (!place) return 0;
    uint64_t since = seen - place->last;
    place->last = seen;
    return since >= EVENTS_IN_A_LOOK;
}

static int has_room_for_epochs(void) {
    return events_stream.limit - events_stream.used > 4 * LOOK_BYTES;
}

/* Some of those that come with every step, too. Files that are written count for themselves: a log of
   every step must not take the room of the evaluations. */
static int is_kept(uint32_t kind, uint32_t extra) {
    if (kind == EVENT_OPEN) return extra == OPEN_WRITES && kept_files++ < KEPT_IN_A_REST;
    int is_wanted = kind == EVENT_WINDOW || (kind == EVENT_SPAN && is_once_an_epoch(extra));
    return is_wanted && kept++ < KEPT_IN_A_REST;
}

int rests_leave_out(uint32_t kind, const Event *event) {
    if (kind == EVENT_REST) return 0;
    uint64_t now = ticks_now();
    int is_around = is_around_steps(kind, event);
    seen++;
    if (!look_began) begin_look(now);
    if (rest_until && now >= rest_until) end_rest(now);
    if (!rest_until && events_stream.used - look_from >= LOOK_BYTES) begin_rest(now);
    if (!rest_until || (is_around && has_room_for_epochs()) || is_kept(kind, event->extra)) return 0;
    left_out++;
    return 1;
}
