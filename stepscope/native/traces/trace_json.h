/* Reading JSON in place. The text ends with a zero byte, which no value may contain: nothing here
   reads beyond it. Every function returns where the next character is, NULL for text that is not
   JSON or is not handled here. */
#ifndef STEPSCOPE_TRACE_JSON_H
#define STEPSCOPE_TRACE_JSON_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *start; /* NULL: there is none */
    size_t size;
} Slice;

static inline const char *json_blank(const char *at) {
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
    return at;
}

/* `at` is at the opening quote. */
const char *json_string(const char *at, Slice *content);

/* Any value; `found` is all of it. */
const char *json_value(const char *at, Slice *found);

/* A name and the colon after it; names with escapes are not read. */
const char *json_key(const char *at, Slice *key);

/* A whole number of up to 18 digits, also as a text. */
const char *json_whole(const char *at, int64_t *value);

const char *json_real(const char *at, double *value);

#endif
