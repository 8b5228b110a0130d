/* The structures of the run folder's .bin files: the C side of store/format.py. A test compares
   every field, enumerator and constant. */
#ifndef STEPSCOPE_FORMAT_H
#define STEPSCOPE_FORMAT_H

#include <stdint.h>

#define FORMAT_VERSION 1
#define FORMAT_MAGIC "stepscop"

enum Stream { STREAM_EVENTS = 1, STREAM_LINES = 2, STREAM_CALLS = 3, STREAM_SAMPLES = 4 };
enum StreamState {
    STREAM_GROWING = 0, STREAM_FULL = 1, STREAM_REFUSED = 2, STREAM_LOST = 3, STREAM_NO_MEMORY = 4,
};
enum ClockKind { CLOCK_KIND_MONOTONIC = 0, CLOCK_KIND_COUNTER = 1 };

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t stream;
    uint64_t base;
    uint64_t used;
    uint32_t clock;
    uint32_t state;
    uint8_t reserved[24];
} FileHeader;

enum EventKind {
    EVENT_CLOCK = 1, EVENT_SPAN = 2, EVENT_STEP = 3, EVENT_LOOP = 4, EVENT_OPEN = 5, EVENT_CPU = 6,
    EVENT_IO = 7, EVENT_MEMORY = 8, EVENT_COST = 9, EVENT_LINE_BEGINS = 10, EVENT_WINDOW = 11,
    EVENT_LOSS = 12, EVENT_REST = 13,
};
enum SpanCategory {
    SPAN_REGION = 1, SPAN_IMPORT = 2, SPAN_GC = 3, SPAN_PROFILER = 4, SPAN_INPUT = 5,
    SPAN_PREPARE = 6, SPAN_TRANSFER = 7, SPAN_FORWARD = 8, SPAN_BACKWARD = 9, SPAN_OPTIMIZER = 10,
    SPAN_COMMUNICATION = 11, SPAN_SYNC = 12, SPAN_COMPILE = 13, SPAN_EVALUATION = 14,
    SPAN_CHECKPOINT = 15, SPAN_LOGGING = 16, SPAN_STAGE = 17, SPAN_ACTION = 18, SPAN_COMPUTE = 19,
    SPAN_MODULE = 20,
};
enum StepMark { STEP_SCRIPT = 0, STEP_BEGINS = 1, STEP_FRAMEWORK = 2 };
enum LossFlag { LOSS_RUNNING_MEAN = 1 };
enum ForwardFlag { FORWARD_NO_GRAD = 1, FORWARD_EVALUATING = 2 };
enum BackwardFlag { BACKWARD_WITH_FORWARD = 1 };
#define LOADER_WORKERS_BITS 16
#define COMPUTE_UPDATES 1
#define COMPUTE_SAMPLES_BIT 1
#define EVENT_TAG 0x57E90000u

typedef struct {
    uint32_t tag; /* written last */
    uint32_t name;
    uint64_t start;
    uint64_t end;
    uint32_t thread;
    uint32_t extra;
    uint64_t value0;
    uint64_t value1;
} Event;

enum BlockKind { BLOCK_CODE = 1, BLOCK_THREAD = 2, BLOCK_FREE = 3 };
enum BlockFlag { BLOCK_THINNED = 1, BLOCK_EXACT = 2 };
#define BLOCK_TAG 0x11E50000u

typedef struct {
    uint32_t tag; /* written last */
    uint32_t size;
    uint32_t id;
    uint32_t first_line;
    uint32_t count;
    uint32_t flags;
    uint64_t calls;
    uint64_t exits;
    uint64_t resumes;
    uint8_t reserved[16];
} Block;

#define HITS_STAMPED (1ull << 63)
#define HITS_THINNED (1ull << 62)
#define HITS_MASK (HITS_THINNED - 1)

typedef struct {
    uint64_t hits;
    uint64_t ticks;
    uint64_t sampled;
} Line;

struct CodeRecord;

typedef struct {
    void *frame;               /* 0 ends the list */
    void *code;                /* borrowed: its frame keeps it alive */
    Line *lines;               /* entry of line 0 */
    Line *current;             /* running line, or &line_nowhere */
    uint64_t since;
    uint64_t entered;
    uint64_t opens;            /* offset of this activation's last OPEN event */
    struct CodeRecord *record;
} Activation;

enum CallsKind { CALLS_NODES = 1, CALLS_STACK = 2, CALLS_FREE = 3, CALLS_NODE = 4, CALLS_ROOT = 5 };
#define CALLS_TAG 0xCA110000u
/* Bytes: offsets in calls.bin are counted in these. */
#define CALLS_UNIT 16

typedef struct CallNode {
    uint32_t tag;            /* written last */
    uint32_t function;       /* 0: one of our own */
    uint32_t parent;         /* offset; CALLS_ROOT: the thread's id */
    uint32_t children;
    uint64_t calls;
    uint64_t ticks;
    struct CallNode *recent; /* the child that was called last, or NULL */
    struct CallNode *next;   /* the children of a node are a ring */
} CallNode;

typedef struct {
    CallNode *node; /* NULL ends the list */
    uint64_t start;
    const void *key; /* of its function: the code object or method definition */
} CallEntry;

enum SamplesKind {
    SAMPLES_NODE = 1, SAMPLES_SAMPLE = 2, SAMPLES_PYTHON = 3, SAMPLES_NATIVE = 4, SAMPLES_WAITING = 5,
};
#define SAMPLES_TAG 0x5A3E0000u

typedef struct {
    uint32_t tag; /* written last */
    uint32_t function;
    uint32_t parent;
    uint32_t line;
    uint8_t reserved[16];
} Node;

typedef struct {
    uint32_t tag; /* written last */
    uint32_t thread;
    uint32_t node;
    uint32_t count;
    uint64_t start;
    uint64_t weight;
} Sample;

_Static_assert(sizeof(FileHeader) == 64, "store/format.py HEADER");
_Static_assert(sizeof(Event) == 48, "store/format.py EVENT");
_Static_assert(sizeof(Block) == 64, "store/format.py BLOCK");
_Static_assert(sizeof(Line) == 24, "store/format.py LINE");
_Static_assert(sizeof(Activation) == 64, "store/format.py ACTIVATION");
_Static_assert(sizeof(CallNode) == 48, "store/format.py CALL_NODE");
_Static_assert(sizeof(CallEntry) == 24, "store/format.py CALL_ENTRY");
_Static_assert(sizeof(Node) == 32, "store/format.py NODE");
_Static_assert(sizeof(Sample) == sizeof(Node), "store/format.py SAMPLE: both in one sequence");

#endif
