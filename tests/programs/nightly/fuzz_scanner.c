/* Feeds the scanner of traces texts that were made from others by damage. One that takes a way through
   the scanner that none took before joins those that others are made from. */
#include "traces/trace_events.c"

#include <stdio.h>

enum { WAYS = 1 << 13, KEPT_AT_MOST = 20000, LONGEST = 1 << 12 };

typedef struct {
    char *bytes; /* owned */
    size_t size;
} Text;

static uint8_t passed[WAYS]; /* how often this text passed */
static uint8_t seen[WAYS];   /* a bit for each magnitude that some text had */
static uintptr_t last_place;
static Text kept[KEPT_AT_MOST], current;
static long kept_count;
static uint64_t state;

/* ---- ways through the scanner ------------------------------------------------------------------- */

/* The compiler calls it at the beginning of each block. */
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void) {
    uintptr_t place = (uintptr_t)__builtin_return_address(0) - (uintptr_t)trace_events;
    uint8_t *count = &passed[(place ^ last_place) % WAYS];
    if (*count < 255) ++*count;
    last_place = place << 1;
}

__attribute__((no_sanitize_coverage)) static int is_new(void) {
    int found = 0;
    for (int i = 0; i < WAYS; i++) {
        if (!passed[i]) continue;
        uint8_t magnitude = (uint8_t)(1 << (31 - __builtin_clz(passed[i])));
        found |= magnitude & ~seen[i];
        seen[i] |= magnitude;
    }
    return found != 0;
}

/* ---- damage ------------------------------------------------------------------------------------- */

__attribute__((no_sanitize_coverage)) static size_t below(size_t limit) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return limit ? (size_t)(state % limit) : 0;
}

static const char *const words[] = {
    "{", "}", "[", "]", "\"", "\\", "\\u", "\\ud800", ",", ":", "-", ".", "1e999", "0.1e-5", "null", "true",
    "\xff", "18446744073709551616", "999999999999999999", "\n", "\"ts\":", "\"dur\":", "\"ph\":\"X\"",
    "\"pid\":", "\"tid\":", "\"cat\":", "\"name\":", "\"args\":{", "\"id\":", "\"Addr\":", "\"Bytes\":",
    "\"bytes\":", "\"stream\":", "\"device\":", "\"Input Dims\":", "\"Input type\":", "\"External id\":",
    "\"external id\":", "\"correlation\":", "\"Device Type\":", "\"Sequence number\":",
    "\"Concrete Inputs\":", "\"conv\"", "\"M\"", "},{",
};

/* In place of `gone` bytes at `at`. */
__attribute__((no_sanitize_coverage)) static void put(Text *text, size_t at, size_t gone, const char *piece,
                                                      size_t size) {
    if (gone > text->size - at) gone = text->size - at;
    if (text->size - gone + size > LONGEST) return;
    char *made = malloc(text->size - gone + size + 1);
    memcpy(made, text->bytes, at);
    memcpy(made + at, piece, size);
    memcpy(made + at + size, text->bytes + at + gone, text->size - at - gone);
    free(text->bytes);
    *text = (Text){made, text->size - gone + size};
}

__attribute__((no_sanitize_coverage)) static void damage(Text *text) {
    const Text *other = &kept[below((size_t)kept_count)];
    size_t at = below(text->size + 1), from = below(other->size), size = below(other->size - from + 1);
    const char *word = words[below(sizeof words / sizeof *words)];
    char byte = (char)below(256);
    switch (below(6)) {
    case 0: put(text, at, 1, &byte, 1); break;
    case 1: put(text, at, below(40), "", 0); break;
    case 2: put(text, at, below(3), word, strlen(word)); break;
    case 3: put(text, at, 0, other->bytes + from, size); break;
    case 4: put(text, at, size, other->bytes + from, size); break;
    case 5: put(text, at, below(8) ? 0 : text->size, word, strlen(word)); break;
    }
}

/* ---- the scanner -------------------------------------------------------------------------------- */

/* The text ends where its memory does: what reads beyond it is seen. */
__attribute__((no_sanitize_coverage)) static void scan(const Text *text) {
    Rows rows = {0};
    text->bytes[text->size] = 0;
    memset(passed, 0, sizeof passed);
    last_place = 0;
    if (texts_open(&rows.texts)) abort();
    Py_ssize_t used = read_rows(text->bytes, (Py_ssize_t)text->size, &rows);
    if (used < 0 || used > (Py_ssize_t)text->size) abort();
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].name >= rows.texts.count || rows.rows[i].shapes >= rows.texts.count) abort();
    free(rows.rows);
    texts_close(&rows.texts);
}

__attribute__((no_sanitize_coverage)) static void copy(Text *to, const char *bytes, size_t size) {
    *to = (Text){malloc(size + 1), size};
    memcpy(to->bytes, bytes, size);
}

__attribute__((no_sanitize_coverage)) static void scan_and_keep(void) {
    scan(&current);
    if (is_new() && kept_count < KEPT_AT_MOST) kept[kept_count++] = current;
    else free(current.bytes);
    current.bytes = NULL;
}

__attribute__((no_sanitize_coverage)) static void tell(void) {
    fprintf(stderr, "the text, in hexadecimal: ");
    for (size_t i = 0; current.bytes && i < current.size; i++) fprintf(stderr, "%02x", current.bytes[i] & 255);
    fprintf(stderr, "\n");
}

/* ---- for Python --------------------------------------------------------------------------------- */

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

void begin_with(const char *bytes, long size) {
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell);
    copy(&current, bytes, (size_t)size);
    scan_and_keep();
}

long fuzz(uint64_t seed, long count) {
    state = seed * 0x9E3779B97F4A7C15u + 1;
    for (long i = 0; i < count; i++) {
        const Text *from = &kept[below((size_t)kept_count)];
        copy(&current, from->bytes, from->size);
        for (size_t times = 1 + below(4); times; times--) damage(&current);
        scan_and_keep();
    }
    return kept_count;
}

long kept_size(long number) { return (long)kept[number].size; }
const char *kept_text(long number) { return kept[number].bytes; }
