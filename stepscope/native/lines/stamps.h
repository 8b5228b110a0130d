/* Reporting the iterations of stamped loops to the recording, which may end the script. */
#ifndef STEPSCOPE_STAMPS_H
#define STEPSCOPE_STAMPS_H

#include "lines/lines.h"

/* Who is called for each iteration; NULL: nobody. */
void stamps_report_to(PyObject *listener);

/* The loop that is stamped however fast it turns; 0: none. */
extern uint32_t stamps_always;

/* PLACE_RAISE when the listener raised (to end the script cleanly). */
Place stamp_report(uint32_t loop_id, uint64_t now, uint32_t line_before);

#endif
