/* Repeated texts: see trace_texts.h. */
#include "traces/trace_texts.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 16, FIRST_SLOTS = 1 << 12 };

int texts_open(Texts *texts) {
    *texts = (Texts){.room = FIRST_BYTES, .capacity = FIRST_SLOTS / 2, .mask = FIRST_SLOTS - 1};
    texts->bytes = malloc(texts->room);
    texts->held = malloc((size_t)texts->capacity * sizeof *texts->held);
    texts->slots = calloc(FIRST_SLOTS, sizeof *texts->slots);
    if (texts->bytes && texts->held && texts->slots) return 0;
    texts_close(texts);
    return -1;
}

void texts_close(Texts *texts) {
    free(texts->bytes);
    free(texts->held);
    free(texts->slots);
    *texts = (Texts){0};
}

int texts_add(Texts *texts, const char *piece, size_t size) {
    size_t needed = texts->used + texts->pending + size;
    if (needed > texts->room) {
        char *larger = realloc(texts->bytes, 2 * needed);
        if (!larger) return -1;
        texts->bytes = larger;
        texts->room = 2 * needed;
    }
    if (size) memcpy(texts->bytes + texts->used + texts->pending, piece, size);
    texts->pending += size;
    return 0;
}

/* Eight bytes at a time: shapes are long. */
static uint64_t hash_of(const char *text, size_t size) {
    const uint64_t factor = 0x9e3779b97f4a7c15ull;
    uint64_t hash = size * factor, word;
    for (; size >= sizeof word; text += sizeof word, size -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, text, size);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

static void place(Texts *texts, uint64_t hash, int32_t number) {
    uint32_t at = (uint32_t)hash & texts->mask;
    while (texts->slots[at]) at = (at + 1) & texts->mask;
    texts->slots[at] = number + 1;
}

/* Twice as many slots and texts; -1: no memory. */
static int grow(Texts *texts) {
    uint32_t mask = 2 * texts->mask + 1;
    HeldText *held = realloc(texts->held, 2 * (size_t)texts->capacity * sizeof *held);
    if (!held) return -1;
    texts->held = held;
    texts->capacity *= 2;
    int32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots) return -1;
    free(texts->slots);
    texts->slots = slots;
    texts->mask = mask;
    for (int32_t i = 0; i < texts->count; i++) place(texts, held[i].hash, i);
    return 0;
}

int32_t texts_number(Texts *texts) {
    const char *text = texts->bytes + texts->used;
    size_t size = texts->pending;
    uint64_t hash = hash_of(text, size);
    texts->pending = 0;
    for (uint32_t at = (uint32_t)hash & texts->mask; texts->slots[at]; at = (at + 1) & texts->mask) {
        HeldText *known = texts->held + texts->slots[at] - 1;
        if (known->hash == hash && known->size == size &&
            memcmp(texts->bytes + known->start, text, size) == 0)
            return texts->slots[at] - 1;
    }
    if (texts->count == texts->capacity && grow(texts)) return -1;
    texts->held[texts->count] = (HeldText){hash, texts->used, size};
    texts->used += size;
    place(texts, hash, texts->count);
    return texts->count++;
}
