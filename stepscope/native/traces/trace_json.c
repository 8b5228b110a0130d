/* Reading JSON in place: see trace_json.h. */
#include "traces/trace_json.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, MOST_DIGITS = 18 };
#define EXACT (1ull << 53) /* whole numbers up to here are exact as a double */

/* Where a string needs more than copying: its end, an escape, a control character. */
static const char is_special[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ['"'] = 1, ['\\'] = 1,
};

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

/* `at` is after the backslash. */
static const char *escape(const char *at) {
    if (*at == 'u') {
        for (int i = 1; i <= 4; i++)
            if (!is_hex(at[i])) return NULL;
        return at + 5;
    }
    return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
}

const char *json_string(const char *at, Slice *content) {
    if (*at++ != '"') return NULL;
    content->start = at;
    for (;;) {
        while (!is_special[(unsigned char)*at]) at++;
        if (*at == '"') break;
        if (*at != '\\' || !(at = escape(at + 1))) return NULL;
    }
    content->size = (size_t)(at - content->start);
    return at + 1;
}

const char *json_key(const char *at, Slice *key) {
    at = json_string(at, key);
    if (!at || memchr(key->start, '\\', key->size)) return NULL;
    at = json_blank(at);
    return *at == ':' ? json_blank(at + 1) : NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t digits; /* of the number without its point */
    int count, decimals, has_exponent, is_negative;
} Number;

static const char *digits(const char *at, Number *number) {
    if (!is_digit(*at)) return NULL;
    for (; is_digit(*at); at++, number->count++)
        if (number->count <= MOST_DIGITS) number->digits = 10 * number->digits + (uint64_t)(*at - '0');
    return at;
}

static const char *read_number(const char *at, Number *number) {
    *number = (Number){.is_negative = *at == '-'};
    at += number->is_negative;
    if (*at == '0' && is_digit(at[1])) return NULL;
    if (!(at = digits(at, number))) return NULL;
    if (*at == '.') {
        int before = number->count;
        if (!(at = digits(at + 1, number))) return NULL;
        number->decimals = number->count - before;
    }
    if (*at == 'e' || *at == 'E') {
        Number exponent = {0};
        number->has_exponent = 1;
        at += 1 + (at[1] == '+' || at[1] == '-');
        at = digits(at, &exponent);
    }
    return at;
}

const char *json_whole(const char *at, int64_t *value) {
    Number number;
    int is_text = *at == '"';
    at = read_number(at + is_text, &number);
    if (!at || number.decimals || number.has_exponent || number.count > MOST_DIGITS) return NULL;
    if (is_text && *at++ != '"') return NULL;
    *value = number.is_negative ? -(int64_t)number.digits : (int64_t)number.digits;
    return at;
}

/* A quotient of two exact doubles is correctly rounded; everything else goes to the library. */
const char *json_real(const char *at, double *value) {
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    Number number;
    const char *end = read_number(at, &number);
    if (!end) return NULL;
    if (!number.has_exponent && number.count <= MOST_DIGITS && number.digits <= EXACT) {
        double found = (double)number.digits / tens[number.decimals];
        *value = number.is_negative ? -found : found;
        return end;
    }
    char *stopped;
    *value = strtod(at, &stopped);
    return stopped == end ? end : NULL;
}

/* ---- any value ---------------------------------------------------------------------------------- */

static const char *skip(const char *at, int depth);

static const char *skip_word(const char *at, const char *word) {
    size_t size = strlen(word);
    return strncmp(at, word, size) == 0 ? at + size : NULL;
}

/* `at` is after the opening bracket or brace. */
static const char *skip_inside(const char *at, char closing, int depth) {
    Slice key;
    at = json_blank(at);
    if (*at == closing) return at + 1;
    for (;;) {
        if (closing == '}' && !(at = json_key(at, &key))) return NULL;
        if (!(at = skip(at, depth + 1))) return NULL;
        at = json_blank(at);
        if (*at == closing) return at + 1;
        if (*at++ != ',') return NULL;
        at = json_blank(at);
    }
}

static const char *skip(const char *at, int depth) {
    Slice content;
    Number number;
    if (depth > DEEPEST) return NULL;
    switch (*at) {
    case '"': return json_string(at, &content);
    case '{': return skip_inside(at + 1, '}', depth);
    case '[': return skip_inside(at + 1, ']', depth);
    case 't': return skip_word(at, "true");
    case 'f': return skip_word(at, "false");
    case 'n': return skip_word(at, "null");
    default: return read_number(at, &number);
    }
}

const char *json_value(const char *at, Slice *found) {
    const char *end = skip(at, 0);
    *found = (Slice){at, end ? (size_t)(end - at) : 0};
    return end;
}
