/* Rests: once a job has used half of its space for events, it is recorded in looks with rests between
   them, which get longer. The space lasts for as long as the job does. */
#ifndef STEPSCOPE_RESTS_H
#define STEPSCOPE_RESTS_H

#include "storage/storage.h"

/* A new storage: it begins without rests. */
void rests_begin(void);

/* Whether the event is left out. Asked only while `rests_are_due`. */
int rests_leave_out(uint32_t kind, const Event *event);

static inline int rests_are_due(void) { return events_stream.used > events_stream.limit / 2; }

/* How many times rarer something has to be recorded in a stream that is this full: 1 up to a half,
   then with the square of what is left, so that it never fills up. */
double rests_factor(const Stream *stream);

#endif
