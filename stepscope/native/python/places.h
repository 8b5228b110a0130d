/* Where the instructions of code with ticks are in the code without.

   Three bytes for each instruction of the plain code, in order: how many code units it begins after
   the one before, the same in the code with ticks, and how many cache units follow it in both. */
#ifndef STEPSCOPE_PLACES_H
#define STEPSCOPE_PLACES_H

#include <stddef.h>
#include <stdint.h>

/* Both take and return byte offsets. A tick counts as the instruction that follows it. */
int place_in_plain(const uint8_t *places, size_t size, int offset);
int place_in_ticked(const uint8_t *places, size_t size, int offset);

#endif
