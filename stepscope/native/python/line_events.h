/* 3.12 and later: what line events leave behind in code, as if it had never had any. Both need a
   layout that we know, and do nothing otherwise. Hold the GIL. */
#ifndef STEPSCOPE_LINE_EVENTS_H
#define STEPSCOPE_LINE_EVENTS_H

#include "python/compat.h"

#if HAS_MONITORING

/* From 3.13 on, the interpreter stops at each place where a line may begin. If the instruction before
   was in the same line there is no event, so no tool can answer DISABLE, and the place stays. A loop
   within one line is such a place, and so is a lambda's start. This switches the place off, as DISABLE
   does, if only one tool listens to lines. */
void line_event_remove(PyObject *code, int unit);

/* 3.12 runs some pairs of instructions as one. Events split all pairs of a code object, and nothing
   joins them again. This joins those that no event is in. */
void line_events_join_pairs(PyObject *code);

#endif
#endif
