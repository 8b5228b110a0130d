/* Places: a walk over all instructions up to the wanted one, which takes some 1 ns for each. */
#include "python/places.h"

enum { BYTES = 3, UNIT = 2 }; /* a code unit has two bytes */

/* `from` and `to`: which of the three bytes counts in the code of the offset, and in the other. */
static int translate(const uint8_t *places, size_t size, int offset, int from, int to) {
    int here = -1, there = -1, wanted = offset / UNIT; /* the first instruction's steps are from -1 */
    if (offset < 0) return offset;
    for (size_t i = 0; i + BYTES <= size; i += BYTES) {
        here += places[i + from];
        there += places[i + to];
        if (wanted <= here) return there * UNIT;
        if (wanted <= here + places[i + 2]) return (there + wanted - here) * UNIT;
    }
    return there * UNIT; /* behind the last one: what counts the end of the function */
}

int place_in_plain(const uint8_t *places, size_t size, int offset) {
    return translate(places, size, offset, 1, 0);
}

int place_in_ticked(const uint8_t *places, size_t size, int offset) {
    return translate(places, size, offset, 0, 1);
}
