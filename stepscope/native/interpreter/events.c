/* Events: fixed records, committed by writing the tag last. */
#include "python/compat.h"
#include "interpreter/events.h"
#include "clock/clock.h"
#include "storage/bus_guard.h"
#include "storage/storage.h"
#include "interpreter/rests.h"
#include "interpreter/run_delay.h"
#include "interpreter/threads.h"

uint64_t cost_slow_ticks;
uint64_t events_of_passes;

static __thread int slow_paths __attribute__((tls_model("initial-exec"))); /* that are being taken */

uint64_t slow_path_begin(void) { return slow_paths++ ? 0 : clock_ns(CLOCK_THREAD_CPUTIME_ID); }

void slow_path_end(uint64_t began) {
    if (--slow_paths) return;
    cost_slow_ticks += ns_to_ticks((double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began));
}

static int is_pass(uint32_t category) {
    return (category >= SPAN_FORWARD && category <= SPAN_OPTIMIZER) || category == SPAN_COMPUTE;
}

/* A handler of the script's own is noticed by the next event. */
static void keep_guard(uint64_t now) {
    static uint64_t next_look;
    if (LIKELY(now < next_look)) return;
    next_look = now + ns_to_ticks(1e6);
    bus_guard_keep();
}

uint64_t event_add(uint32_t kind, Event fields) {
    if (!storage_is_open) return 0;
    keep_guard(fields.start);
    if (kind == EVENT_SPAN && is_pass(fields.extra)) events_of_passes++;
    if (UNLIKELY(rests_are_due()) && rests_leave_out(kind, &fields)) return 0;
    Thread *thread = thread_get();
    Event *event = stream_take(&events_stream, sizeof *event);
    if (!event) return 0;
    fields.thread = thread ? thread->id : 0;
    fields.tag = 0;
    *event = fields;
    __atomic_store_n(&event->tag, EVENT_TAG | kind, __ATOMIC_RELEASE);
    return stream_offset(&events_stream, event);
}

/* They come seldom and write, which wakes a reader and may cost the core: on a busy machine, what they
   take by the clock says little. */
static int says_delay(uint32_t category) {
    return category == SPAN_LOGGING || category == SPAN_CHECKPOINT;
}

uint64_t event_span_add(Event span) {
    if (says_delay(span.extra)) span.value0 = run_delay_begin(span.start);
    return event_add(EVENT_SPAN, span);
}

uint64_t event_span_begin(uint32_t name, uint32_t category) {
    return event_span_add((Event){.name = name, .start = ticks_now(), .extra = category});
}

Event *event_at(uint64_t offset) {
    if (!storage_is_open || offset < sizeof(FileHeader)) return NULL;
    if (offset + sizeof(Event) > events_stream.used) return NULL;
    if ((offset - sizeof(FileHeader)) % sizeof(Event)) return NULL;
    return (Event *)(events_stream.base + offset);
}

Event *event_span_at(uint64_t offset) {
    Event *event = event_at(offset);
    return event && event->tag == (EVENT_TAG | EVENT_SPAN) ? event : NULL;
}

void event_span_end(uint64_t offset, uint64_t ticks) {
    Event *event = event_span_at(offset);
    if (!event) return;
    if (says_delay(event->extra) && event->value0) event->value0 = run_delay_since(event->value0);
    event->end = ticks;
}

void event_clock(void) {
    ClockTriple triple = clock_triple();
    event_add(EVENT_CLOCK, (Event){.start = triple.ticks, .end = triple.monotonic_ns,
                                   .value0 = triple.realtime_ns});
}
