/* 3.11: ticks that are switched off. Behind the instructions with ticks, their code has a copy without
   (record/bytecode/bare_copy.py), and from a tick that is off a frame goes on there. So does every
   new call from its first tick on: one jump is left of all ticks. */
#ifndef STEPSCOPE_BARE_H
#define STEPSCOPE_BARE_H

#include "lines/lines.h"

#if !HAS_MONITORING

/* One for each tick, in order, in code units from the start of the code. */
typedef struct {
    uint32_t tick;         /* its first unit */
    uint32_t bare;         /* the instruction behind it, in the copy */
    uint32_t island;       /* in the copy's end: a jump to the tick; or one of those below */
    uint32_t about;        /* flags */
} BarePlace;

enum { ISLAND_TOO_FAR = 0, ISLAND_NOT_NEEDED = 1 };
enum { AFTER_CACHES = 1 }; /* the unit before that instruction is no instruction */
enum { WIDE = 2 };         /* the way to the island takes two units, and there are two */

/* The tick that `frame` is in is no longer wanted. */
void bare_switch_off(Frame *frame);

/* All ticks are wanted again: frames in a copy leave it at their next line. */
void bare_rearm(void);

/* The same for one code object, whose copy a trace function would notice. */
void bare_leave(PyObject *code);

/* The line of the tick at this unit that is on; 0: none is. ticks.c has it. */
uint32_t tick_line_at(PyObject *code, const _Py_CODEUNIT *at);

#endif
#endif
