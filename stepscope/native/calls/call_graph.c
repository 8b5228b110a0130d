/* The call graph: nodes, events, and the sums that are read from it. */
#include "calls/call_graph.h"
#include "clock/clock.h"
#include "interpreter/functions.h"
#include "python/untraced.h"

uint64_t call_graph_number;
int call_graph_builtins;
__thread uint64_t call_graph_mine __attribute__((tls_model("initial-exec")));

static CallGraph *active;  /* owned, or NULL */
static uint64_t upheavals; /* changes whenever Python code may have replaced the graph's state */

/* ---- nodes -------------------------------------------------------------------------------------------- */

static GraphNode **find(GraphNode **slots, size_t size, const GraphNode *caller, const void *key) {
    uint64_t hash = ((uint64_t)(uintptr_t)caller >> 4) * 0x9E3779B97F4A7C15ull + ((uintptr_t)key >> 4);
    hash ^= hash >> 29;
    hash *= 0xBF58476D1CE4E5B9ull;
    size_t at = (size_t)(hash >> 32) & (size - 1);
    while (slots[at] && (slots[at]->caller != caller || slots[at]->key != key)) at = (at + 1) & (size - 1);
    return &slots[at];
}

static GraphNode *known(CallGraph *graph, GraphNode *caller, const void *key) {
    return graph->room ? *find(graph->table, graph->room, caller, key) : NULL;
}

static int grow(CallGraph *graph) {
    size_t wider = graph->room ? graph->room * 2 : 256;
    GraphNode **slots = PyMem_RawCalloc(wider, sizeof *slots);
    if (!slots) return -1;
    for (size_t i = 0; i < graph->room; i++)
        if (graph->table[i])
            *find(slots, wider, graph->table[i]->caller, graph->table[i]->key) = graph->table[i];
    PyMem_RawFree(graph->table);
    graph->table = slots;
    graph->room = wider;
    return 0;
}

/* NULL: no memory. */
static GraphNode *new_node(CallGraph *graph, GraphNode *caller, const void *key) {
    GraphNode *node = NULL;
    if (2 * graph->used < graph->room || !grow(graph)) node = PyMem_RawCalloc(1, sizeof *node);
    if (!node) {
        graph->no_memory = 1;
        return NULL;
    }
    node->key = key;
    node->caller = caller;
    node->function = node;
    *find(graph->table, graph->room, caller, key) = node;
    graph->used++;
    *(caller->last ? &caller->last->next : &caller->first) = node;
    caller->last = node;
    return node;
}

/* Runs Python for a new one. NULL: no memory, or the graph was replaced meanwhile. */
static GraphNode *function_of(CallGraph *graph, const void *key, PyObject *function, PyObject *self) {
    GraphNode *node = known(graph, &graph->root, key);
    if (LIKELY(node != NULL)) return node;
    uint64_t before = upheavals;
    PyObject *held = PyCode_Check(function) ? Py_NewRef(function) : function_bound(function, self);
    PyObject *shown = held ? untraced_call(graph->show, &held, 1) : NULL;
    if (shown == Py_None) Py_CLEAR(shown);
    if (before == upheavals) node = known(graph, &graph->root, key);
    if (before == upheavals && !node && (node = new_node(graph, &graph->root, key))) {
        /* Not the builtin: it holds the object that it is a method of. */
        if (held && PyCode_Check(held)) node->held = Py_NewRef(held);
        node->shown = Py_XNewRef(shown);
    }
    Py_XDECREF(shown);
    Py_XDECREF(held);
    return node;
}

/* The running function; the root if there is none or pairs are not wanted. */
static inline GraphNode *caller_in(CallGraph *graph) {
    if (!graph->depth || !graph->subcalls) return &graph->root;
    return graph->open[graph->depth - 1].node->function;
}

/* NULL: not counted. */
static GraphNode *pair_of(CallGraph *graph, GraphNode *function) {
    GraphNode *caller = caller_in(graph);
    if (!function || !function->shown || caller == &graph->root) return function;
    GraphNode *pair = known(graph, caller, function->key);
    if (!pair && (pair = new_node(graph, caller, function->key))) pair->function = function;
    return pair;
}

static void forget_all(CallGraph *graph) {
    GraphNode **table = graph->table;
    size_t room = graph->room;
    graph->table = NULL;
    graph->room = graph->used = graph->depth = 0;
    graph->root = (GraphNode){0};
    graph->no_memory = 0;
    upheavals++;
    for (size_t i = 0; i < room; i++) {
        if (!table[i]) continue;
        Py_XDECREF(table[i]->held);
        Py_XDECREF(table[i]->shown);
        PyMem_RawFree(table[i]);
    }
    PyMem_RawFree(table);
}

/* ---- time --------------------------------------------------------------------------------------------- */

/* Seconds to ns, integer and fraction separately: a double has no room for both. */
static int64_t ns_of(double seconds) {
    if (!(seconds > -9e9 && seconds < 9e9)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_OverflowError, "a timer returns seconds");
        return 0;
    }
    int64_t whole = (int64_t)seconds;
    double part = (seconds - (double)whole) * 1e9;
    int64_t down = (int64_t)part;
    return whole * 1000000000 + down - ((double)down > part);
}

/* Exceptions of the timer are reported as unraisable: the program continues. */
static int64_t timer_now(CallGraph *graph) {
    PyObject *type, *value, *traceback, *timer = Py_NewRef(graph->timer);
    int is_whole = graph->timer_is_whole;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *time = PyObject_CallNoArgs(timer);
    int64_t now = 0;
    if (time && is_whole) now = PyLong_AsLongLong(time);
    else if (time) now = ns_of(PyFloat_AsDouble(time));
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(timer);
        now = 0;
    }
    Py_XDECREF(time);
    Py_DECREF(timer);
    PyErr_Restore(type, value, traceback);
    return now;
}

static inline int64_t now_in(CallGraph *graph) {
    return LIKELY(!graph->timer) ? (int64_t)ticks_now() : timer_now(graph);
}

/* ---- events ------------------------------------------------------------------------------------------- */

static inline void begin(GraphNode *node) {
    node->tally.open++;
    if (node->function != node) node->function->tally.open++;
}

static inline void add(Tally *tally, int64_t ticks, int64_t own_ticks) {
    tally->calls++;
    tally->own_ticks += own_ticks;
    if (--tally->open) tally->inner_calls++;
    else tally->ticks += ticks;
}

static inline void end(CallGraph *graph, int64_t now) {
    OpenCall *call = &graph->open[--graph->depth];
    int64_t ticks = now - call->start, own_ticks = ticks - call->below;
    add(&call->node->tally, ticks, own_ticks);
    if (call->node->function != call->node) add(&call->node->function->tally, ticks, own_ticks);
    if (graph->depth) call[-1].below += ticks;
}

static int make_room(CallGraph *graph) {
    size_t room = graph->open_room ? graph->open_room * 2 : 256;
    OpenCall *more = PyMem_RawRealloc(graph->open, room * sizeof *more);
    if (!more) {
        graph->no_memory = 1;
        return -1;
    }
    graph->open = more;
    graph->open_room = room;
    return 0;
}

/* Most calls come in the order of the time before, as in a loop (a function called at two places there
   is followed by two), or again and again. */
static inline GraphNode *expected(const GraphNode *last, const void *key) {
    if (LIKELY(last->follower && last->follower->key == key)) return last->follower;
    if (last->other_follower && last->other_follower->key == key) return last->other_follower;
    return last->key == key ? (GraphNode *)last : NULL;
}

static inline void note_order(GraphNode *caller, GraphNode *node) {
    GraphNode *last = caller->recent;
    if (last && last->follower != node && last->other_follower != node) {
        last->other_follower = last->follower;
        last->follower = node;
    }
    caller->recent = node;
}

/* Our own work counts as the caller's time: the clock is read last. */
static inline OpenCall *push(CallGraph *graph, GraphNode *caller, GraphNode *node) {
    note_order(caller, node);
    begin(node);
    OpenCall *call = &graph->open[graph->depth++];
    call->node = node;
    call->below = 0;
    return call;
}

static NEVER_INLINE void enter_slowly(CallGraph *graph, const void *key, PyObject *function, PyObject *self) {
    GraphNode *node = function_of(graph, key, function, self);
    if (!node || !(node = pair_of(graph, node)) || !node->function->shown) return;
    int64_t start = 0;
    if (UNLIKELY(graph->timer != NULL)) {
        uint64_t before = upheavals;
        start = timer_now(graph);
        if (before != upheavals) return;
    }
    if (UNLIKELY(graph->depth == graph->open_room) && make_room(graph)) return;
    OpenCall *call = push(graph, caller_in(graph), node);
    call->start = graph->timer ? start : (int64_t)ticks_now();
}

void call_graph_enter(const void *key, PyObject *function, PyObject *self) {
    CallGraph *graph = active;
    GraphNode *caller = caller_in(graph), *last = caller->recent, *node = last ? expected(last, key) : NULL;
    if (UNLIKELY(!node || !graph->shortly || graph->depth == graph->open_room))
        enter_slowly(graph, key, function, self);
    else push(graph, caller, node)->start = (int64_t)ticks_of_counter();
}

/* It is not on top: the calls above it ended unseen. */
static void leave_below(CallGraph *graph, const void *key, int64_t now, int count_unseen) {
    size_t at = graph->depth;
    while (at && graph->open[at - 1].node->key != key) at--;
    if (at) {
        while (graph->depth >= at) end(graph, now);
        return;
    }
    /* The interpreter did not report its start. It is counted, and its time is its caller's. */
    GraphNode *node = count_unseen ? pair_of(graph, known(graph, &graph->root, key)) : NULL;
    if (!node || !node->function->shown) return;
    begin(node);
    add(&node->tally, 0, 0);
    if (node->function != node) add(&node->function->tally, 0, 0);
}

static NEVER_INLINE void leave_slowly(CallGraph *graph, const void *key, int count_unseen) {
    uint64_t before = upheavals;
    int64_t now = now_in(graph);
    if (UNLIKELY(before != upheavals)) return;
    if (LIKELY(graph->open[graph->depth - 1].node->key == key)) end(graph, now);
    else leave_below(graph, key, now, count_unseen);
}

void call_graph_leave(const void *key, int count_unseen) {
    CallGraph *graph = active;
    if (!graph->depth) return;
    if (LIKELY(graph->shortly && graph->open[graph->depth - 1].node->key == key))
        end(graph, (int64_t)ticks_of_counter());
    else leave_slowly(graph, key, count_unseen);
}

/* ---- on and off --------------------------------------------------------------------------------------- */

static int enable(CallGraph *graph) {
    static uint64_t last;
    if (active) {
        PyErr_SetString(PyExc_ValueError, "Another profiling tool is already active");
        return -1;
    }
    upheavals++;
    call_graph_number = call_graph_mine = ++last;
    active = (CallGraph *)Py_NewRef((PyObject *)graph);
    if (!call_graph_attach()) return 0;
    call_graph_number = 0;
    Py_CLEAR(active);
    return -1;
}

/* Ends all open calls. 0: it was off. */
static int disable(CallGraph *graph) {
    if (active != graph) return 0;
    call_graph_number = 0;
    upheavals++;
    call_graph_detach();
    int64_t now = graph->depth ? now_in(graph) : 0;
    while (graph->depth) end(graph, now);
    if (active == graph) Py_CLEAR(active);
    return 1;
}

/* ---- what Python sees --------------------------------------------------------------------------------- */

static void dealloc(PyObject *self) {
    CallGraph *graph = (CallGraph *)self;
    forget_all(graph);
    PyMem_RawFree(graph->open);
    Py_XDECREF(graph->show);
    Py_XDECREF(graph->timer);
    PyObject_Free(self);
}

static PyTypeObject graph_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stepscope.native.CallGraph",
    .tp_basicsize = sizeof(CallGraph),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = dealloc,
};

static PyObject *graph_new(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *show, *timer;
    int is_whole;
    if (!PyArg_ParseTuple(args, "OOp", &show, &timer, &is_whole)) return NULL;
    CallGraph *graph = PyObject_New(CallGraph, &graph_type);
    if (!graph) return NULL;
    *graph = (CallGraph){.ob_base = graph->ob_base, .show = Py_NewRef(show), .timer_is_whole = is_whole};
    graph->timer = timer == Py_None ? NULL : Py_NewRef(timer);
    graph->shortly = !graph->timer && clock_kind == CLOCK_KIND_COUNTER;
    return (PyObject *)graph;
}

static PyObject *graph_enable(PyObject *module, PyObject *args) {
    (void)module;
    CallGraph *graph;
    int subcalls, builtins;
    if (!PyArg_ParseTuple(args, "O!pp", &graph_type, &graph, &subcalls, &builtins)) return NULL;
    if (enable(graph)) return NULL;
    graph->subcalls = subcalls;
    call_graph_builtins = builtins;
    Py_RETURN_NONE;
}

static CallGraph *graph_arg(PyObject *given) {
    if (Py_IS_TYPE(given, &graph_type)) return (CallGraph *)given;
    PyErr_Format(PyExc_TypeError, "%R is not a call graph", given);
    return NULL;
}

static PyObject *graph_disable(PyObject *module, PyObject *given) {
    (void)module;
    CallGraph *graph = graph_arg(given);
    return graph ? PyBool_FromLong(disable(graph)) : NULL;
}

static PyObject *graph_clear(PyObject *module, PyObject *given) {
    (void)module;
    CallGraph *graph = graph_arg(given);
    if (!graph) return NULL;
    forget_all(graph);
    Py_RETURN_NONE;
}

static PyObject *rows_of(const GraphNode *caller, int with_callees);

/* (shown, calls, inner calls, ticks, own ticks), and for a function the rows of its callees. */
static PyObject *row_of(const GraphNode *node, int with_callees) {
    const Tally *tally = &node->tally;
    PyObject *shown = node->function->shown;
    if (!with_callees)
        return Py_BuildValue("OKKLL", shown, tally->calls, tally->inner_calls, tally->ticks, tally->own_ticks);
    PyObject *callees = rows_of(node, 0);
    if (!callees) return NULL;
    return Py_BuildValue("OKKLLN", shown, tally->calls, tally->inner_calls, tally->ticks, tally->own_ticks,
                         callees);
}

static PyObject *rows_of(const GraphNode *caller, int with_callees) {
    PyObject *rows = PyList_New(0);
    for (GraphNode *node = caller->first; rows && node; node = node->next) {
        if (!node->tally.calls) continue;
        PyObject *row = row_of(node, with_callees);
        if (!row || PyList_Append(rows, row)) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

static PyObject *graph_read(PyObject *module, PyObject *given) {
    (void)module;
    CallGraph *graph = graph_arg(given);
    if (!graph) return NULL;
    if (graph->no_memory)
        return PyErr_Format(PyExc_MemoryError, "calls are missing: there was no memory to count them");
    return rows_of(&graph->root, 1);
}

static PyMethodDef functions[] = {
    {"graph_new", graph_new, METH_VARARGS, NULL},
    {"graph_enable", graph_enable, METH_VARARGS, NULL},
    {"graph_disable", graph_disable, METH_O, NULL},
    {"graph_clear", graph_clear, METH_O, NULL},
    {"graph_read", graph_read, METH_O, NULL},
    {"graph_callbacks", call_graph_callbacks, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int call_graph_ready(PyObject *module) {
    return PyModule_AddType(module, &graph_type) || PyModule_AddFunctions(module, functions) ? -1 : 0;
}
