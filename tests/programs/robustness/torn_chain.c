/* A thread whose frames were read while they changed: they lead back to where they began. */
#include "sampler/glimpse.h"

int frames_are_public; /* the core's own is in a file that this is not built with */

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
    return glimpse_take(&glimpse, &state);
}
