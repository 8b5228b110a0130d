/* Events: spans, stamps and counters in events.bin. */
#ifndef STEPSCOPE_EVENTS_H
#define STEPSCOPE_EVENTS_H

#include "storage/format.h"

/* Our own time outside the line counters' fast path, in ticks: measured, not modelled. */
extern uint64_t cost_slow_ticks;

/* Around a slow path: its CPU time is added. By the clock it would have the time of whoever had the
   core meanwhile. A slow path inside another one is part of that. */
uint64_t slow_path_begin(void);
void slow_path_end(uint64_t began);

/* Spans of forward, backward, optimizers and compiled steps so far: whether something trains. */
extern uint64_t events_of_passes;

/* Append a committed record, the calling thread's; its offset, 0 when the stream is full. */
uint64_t event_add(uint32_t kind, Event fields);
uint64_t event_span_add(Event span); /* of its fields, what its category does not say itself */
uint64_t event_span_begin(uint32_t name, uint32_t category);
Event *event_span_at(uint64_t offset); /* NULL when there is none */
void event_span_end(uint64_t offset, uint64_t ticks);
/* NULL when there is no event at the offset. */
Event *event_at(uint64_t offset);

void event_clock(void);

#endif
