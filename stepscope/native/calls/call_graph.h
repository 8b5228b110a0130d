/* The call graph: the sums that cProfile keeps, for `stepscope.Profile`.

   One node per function, and one per pair of caller and callee. A recording's tree (call_tree.c)
   has more detail, by path; but recursion makes endless paths, and these sums must be complete:
   the graph grows with the size of the source only. It is on the heap, so it does not depend on
   a recording. One graph counts at a time, and only the thread that enabled it. */
#ifndef STEPSCOPE_CALL_GRAPH_H
#define STEPSCOPE_CALL_GRAPH_H

#include "python/compat.h"

typedef struct {
    uint64_t calls;       /* that have ended */
    uint64_t inner_calls; /* those inside another call of the same function or pair */
    int64_t ticks;        /* of the outermost ones, callees included */
    int64_t own_ticks;    /* of all, without callees */
    size_t open;
} Tally;

typedef struct GraphNode {
    const void *key;            /* code object, or definition of a C function */
    struct GraphNode *function; /* of a pair: the callee; of a function: itself */
    struct GraphNode *caller;   /* of a pair; of a function: the root */
    PyObject *held;             /* owned, of functions: keeps `key` valid; or NULL */
    PyObject *shown;            /* owned, of functions: code object or text; NULL: not shown */
    struct GraphNode *recent;   /* the child that was called last */
    struct GraphNode *follower, *other_follower; /* which of its caller's children was called next */
    struct GraphNode *first, *last, *next; /* children in order; of the root: the functions */
    Tally tally;
} GraphNode;

typedef struct {
    GraphNode *node; /* a pair, or a function without a caller */
    int64_t start;
    int64_t below; /* time of what it called */
} OpenCall;

typedef struct {
    PyObject_HEAD
    PyObject *show;  /* owned: show(code object or builtin) -> what to show for it, or None */
    PyObject *timer; /* owned, or NULL: our clock */
    int timer_is_whole; /* its results are integers of any unit, not seconds */
    int subcalls;
    int shortly; /* its clock is the CPU's counter */
    int no_memory; /* something was left out */
    GraphNode root;
    GraphNode **table; /* of all nodes, by caller and key: open addressing */
    size_t room, used; /* room is a power of two */
    OpenCall *open;
    size_t depth, open_room;
} CallGraph;

/* Each time a graph is switched on it gets a number, which the thread that did so remembers. */
extern uint64_t call_graph_number; /* 0: none is on */
extern int call_graph_builtins;    /* it wants builtins, too */
extern __thread uint64_t call_graph_mine __attribute__((tls_model("initial-exec")));

static inline int call_graph_is_on(void) {
    return call_graph_mine == call_graph_number && call_graph_number;
}

/* Events of this thread, while call_graph_is_on(). `function` is what `key` stands for: a code
   object, a builtin, or a method descriptor that is called on `self`. */
void call_graph_enter(const void *key, PyObject *function, PyObject *self);
void call_graph_leave(const void *key, int count_unseen); /* unseen: it never began, as far as we know */

/* ---- the front end: call_graph_monitoring.c on 3.12 and later, call_graph_profile.c on 3.11 -------- */

int call_graph_attach(void); /* to this thread; -1 with an exception set */
void call_graph_detach(void);
PyObject *call_graph_callbacks(PyObject *self, PyObject *unused);

#if !HAS_MONITORING
int call_graph_on_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *argument);
void call_graph_attach_again(void); /* the recording, which passed events on to us, has ended */
#endif

int call_graph_ready(PyObject *module); /* adds its functions; -1 with an exception set */

#endif
