/* A thread whose frames were read while they changed: they lead back to where they began. */
#include "clock/clock.h"
#include "sampler/activity.h"
#include "sampler/glimpse.h"

/* The core's own are in files that this is not built with. */
int frames_are_public, clock_kind;
double clock_ticks_per_ns = 1;
Activity activity_of(unsigned long native) { return (void)native, ACTIVITY_UNKNOWN; }
uint64_t activity_cpu_ns(unsigned long native) { return (void)native, 0; }

int frames_in_a_circle(void) {
    static Frame frames[2];
    static PyThreadState state;
    static Glimpse glimpse;
    frames[0].previous = &frames[1];
    frames[1].previous = &frames[0];
#if PY_VERSION_HEX >= 0x030c0000
    frames[0].owner = frames[1].owner = FRAME_OWNED_BY_CSTACK;
#endif
#if PY_VERSION_HEX >= 0x030d0000
    state.current_frame = &frames[0];
#else
    static _PyCFrame cframe;
    cframe.current_frame = &frames[0];
    state.cframe = &cframe;
#endif
    return glimpse_take(&glimpse, &state, 0);
}
