/* Twins: descriptors of ours in the place of those of code objects, frames and tracebacks.

   They are placed with the first twin and stay: code with ticks stays too. */
#include "python/twins.h"
#include "python/places.h"

#if !HAS_MONITORING

#include <stddef.h>
#include <string.h>

static PyObject *places_of(PyObject *code) {
    Twin *twin = twin_of(code);
    return twin ? twin->places : NULL;
}

/* In the copy without ticks instructions are as far apart as in the plain code. */
static int offset_in_copy(const Twin *twin, int offset) {
    uint32_t start;
    if (PyBytes_GET_SIZE(twin->bare) < (Py_ssize_t)sizeof start) return -1;
    memcpy(&start, PyBytes_AS_STRING(twin->bare), sizeof start);
    return offset - (int)(start * sizeof(_Py_CODEUNIT));
}

static int plain_offset(PyObject *code, int offset) {
    PyObject *places = places_of(code);
    if (!places) return offset;
    int copied = offset_in_copy(twin_of(code), offset);
    if (copied >= 0) return copied;
    return place_in_plain((const uint8_t *)PyBytes_AS_STRING(places), (size_t)PyBytes_GET_SIZE(places), offset);
}

/* ---- code objects: attributes ----------------------------------------------------------------------- */

/* `original` is the interpreter's own descriptor. */
static PyObject *get_of_plain(PyObject *code, void *original) {
    PyObject *plain = twin_plain(code);
    return Py_TYPE(original)->tp_descr_get(original, plain, (PyObject *)&PyCode_Type);
}

static PyObject *get_consts(PyObject *code, void *original) {
    Twin *twin = twin_of(code);
    return twin ? Py_NewRef(twin->consts) : get_of_plain(code, original);
}

static PyGetSetDef code_attributes[] = {
    {"co_code", get_of_plain, NULL, NULL, NULL},
    {"_co_code_adaptive", get_of_plain, NULL, NULL, NULL},
    {"co_consts", get_consts, NULL, NULL, NULL},
    {"co_exceptiontable", get_of_plain, NULL, NULL, NULL},
    {"co_linetable", get_of_plain, NULL, NULL, NULL},
    {"co_lnotab", get_of_plain, NULL, NULL, NULL},
    {"co_stacksize", get_of_plain, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- code objects: methods -------------------------------------------------------------------------- */

static struct { PyObject *lines, *positions, *size, *replace; } original; /* owned */

static PyObject *get_lines(PyObject *code, PyObject *unused) {
    (void)unused;
    return PyObject_CallOneArg(original.lines, twin_plain(code));
}

PyObject *code_lines(PyObject *code) {
    return original.lines ? PyObject_CallOneArg(original.lines, code) : PyObject_CallMethod(code, "co_lines", NULL);
}

static PyObject *get_positions(PyObject *code, PyObject *unused) {
    (void)unused;
    return PyObject_CallOneArg(original.positions, twin_plain(code));
}

static PyObject *get_size(PyObject *code, PyObject *unused) {
    (void)unused;
    return PyObject_CallOneArg(original.size, twin_plain(code));
}

static int has_consts(PyObject *names) {
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
        if (!PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "co_consts")) return 1;
    return 0;
}

/* plain.replace(..., co_consts=consts): what is nested stays as it is, as without us. */
static PyObject *replace_with_consts(Twin *twin, PyObject *const *args, PyObject *names) {
    PyObject *attributes = PyDict_New(), *one = PyTuple_Pack(1, twin->plain), *made = NULL;
    int failed = !attributes || !one || PyDict_SetItemString(attributes, "co_consts", twin->consts);
    for (Py_ssize_t i = 0; !failed && names && i < PyTuple_GET_SIZE(names); i++)
        failed = PyDict_SetItem(attributes, PyTuple_GET_ITEM(names, i), args[i]);
    if (!failed) made = PyObject_Call(original.replace, one, attributes);
    Py_XDECREF(attributes);
    Py_XDECREF(one);
    return made;
}

static PyObject *replace(PyObject *code, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Twin *twin = twin_of(code);
    if (twin && !count && !has_consts(names)) return replace_with_consts(twin, args, names);
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject **with_self = PyMem_Malloc((size_t)(all + 1) * sizeof *with_self);
    if (!with_self) return PyErr_NoMemory();
    with_self[0] = twin ? twin->plain : code;
    memcpy(with_self + 1, args, (size_t)all * sizeof *args);
    PyObject *made = PyObject_Vectorcall(original.replace, with_self, (size_t)count + 1, names);
    PyMem_Free(with_self);
    return made;
}

static PyMethodDef code_methods[] = {
    {"co_lines", get_lines, METH_NOARGS, NULL},
    {"co_positions", get_positions, METH_NOARGS, NULL},
    {"__sizeof__", get_size, METH_NOARGS, NULL},
    {"replace", (PyCFunction)(void *)replace, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyObject **const originals[] = {&original.lines, &original.positions, &original.size, &original.replace};

/* ---- code objects: equality ------------------------------------------------------------------------- */

static hashfunc original_hash;
static richcmpfunc original_compare;

static Py_hash_t hash(PyObject *code) { return original_hash(twin_plain(code)); }

static PyObject *compare(PyObject *code, PyObject *other, int how) {
    return original_compare(twin_plain(code), PyCode_Check(other) ? twin_plain(other) : other, how);
}

/* `types.CodeType.__eq__` and the like have a copy of the slot. */
static void change_wrappers(void) {
    static const char *const names[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *wrapper = PyDict_GetItemString(PyCode_Type.tp_dict, names[i]); /* borrowed */
        if (!wrapper || !Py_IS_TYPE(wrapper, &PyWrapperDescr_Type)) continue;
        void **wrapped = &((PyWrapperDescrObject *)wrapper)->d_wrapped;
        if (*wrapped == (void *)original_compare) *wrapped = (void *)compare;
        if (*wrapped == (void *)original_hash) *wrapped = (void *)hash;
    }
}

/* ---- frames and tracebacks -------------------------------------------------------------------------- */

static PyObject *get_frame_offset(PyObject *frame, void *descriptor) {
    PyObject *found = Py_TYPE(descriptor)->tp_descr_get(descriptor, frame, (PyObject *)&PyFrame_Type);
    PyObject *code = (PyObject *)((PyFrameObject *)frame)->f_frame->f_code;
    if (!found || !places_of(code)) return found;
    int offset = plain_offset(code, (int)PyLong_AsLong(found));
    Py_DECREF(found);
    return PyLong_FromLong(offset);
}

static PyObject *code_of(PyTracebackObject *traceback) {
    return (PyObject *)traceback->tb_frame->f_frame->f_code;
}

static PyObject *get_traceback_offset(PyObject *self, void *unused) {
    (void)unused;
    PyTracebackObject *traceback = (PyTracebackObject *)self;
    return PyLong_FromLong(plain_offset(code_of(traceback), traceback->tb_lasti));
}

static PyGetSetDef frame_offset_attribute = {"f_lasti", get_frame_offset, NULL, NULL, NULL};
static PyGetSetDef traceback_offset_attribute = {"tb_lasti", get_traceback_offset, NULL, NULL, NULL};
static newfunc original_traceback;

/* TracebackType(tb_next, tb_frame, tb_lasti, tb_lineno): the offset is one that Python has read. */
static PyObject *new_traceback(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *made = original_traceback(type, args, keywords);
    PyTracebackObject *traceback = (PyTracebackObject *)made;
    PyObject *places = made ? places_of(code_of(traceback)) : NULL;
    if (places)
        traceback->tb_lasti = place_in_ticked((const uint8_t *)PyBytes_AS_STRING(places),
                                              (size_t)PyBytes_GET_SIZE(places), traceback->tb_lasti);
    return made;
}

/* ---- placing ---------------------------------------------------------------------------------------- */

static int place_attribute(PyTypeObject *type, PyGetSetDef *attribute) {
    PyObject *before = PyDict_GetItemString(type->tp_dict, attribute->name); /* borrowed */
    if (!before) return 0;
    attribute->closure = Py_NewRef(before);
    PyObject *descriptor = PyDescr_NewGetSet(type, attribute);
    int failed = !descriptor || PyDict_SetItemString(type->tp_dict, attribute->name, descriptor);
    Py_XDECREF(descriptor);
    return failed ? -1 : 0;
}

static int place_method(PyMethodDef *method, PyObject **before) {
    *before = Py_XNewRef(PyDict_GetItemString(PyCode_Type.tp_dict, method->ml_name));
    if (!*before || !Py_IS_TYPE(*before, &PyMethodDescr_Type)) return 0;
    method->ml_doc = ((PyMethodDescrObject *)*before)->d_method->ml_doc; /* its signature too */
    PyObject *descriptor = PyDescr_NewMethod(&PyCode_Type, method);
    int failed = !descriptor || PyDict_SetItemString(PyCode_Type.tp_dict, method->ml_name, descriptor);
    Py_XDECREF(descriptor);
    return failed ? -1 : 0;
}

static void place_slots(void) {
    original_hash = PyCode_Type.tp_hash;
    original_compare = PyCode_Type.tp_richcompare;
    original_traceback = PyTraceBack_Type.tp_new;
    PyCode_Type.tp_hash = hash;
    PyCode_Type.tp_richcompare = compare;
    PyTraceBack_Type.tp_new = new_traceback;
    change_wrappers();
}

static int place_all(void) {
    static int placed;
    if (placed) return 0;
    placed = 1;
    int failed = place_attribute(&PyFrame_Type, &frame_offset_attribute) ||
                 place_attribute(&PyTraceBack_Type, &traceback_offset_attribute);
    for (PyGetSetDef *each = code_attributes; !failed && each->name; each++)
        failed = place_attribute(&PyCode_Type, each);
    for (int i = 0; !failed && code_methods[i].ml_name; i++)
        failed = place_method(&code_methods[i], originals[i]);
    if (!failed) place_slots();
    PyType_Modified(&PyCode_Type);
    PyType_Modified(&PyFrame_Type);
    PyType_Modified(&PyTraceBack_Type);
    return failed ? -1 : 0;
}

int twin_set(PyObject *ticked, PyObject *plain, PyObject *places, PyObject *bare) {
    if (place_all()) return -1;
    PyObject *constants = ((PyCodeObject *)ticked)->co_consts;
    Py_ssize_t count = PyTuple_GET_SIZE(((PyCodeObject *)plain)->co_consts);
    Twin *twin = PyMem_Malloc(sizeof *twin);
    PyObject *seen = twin ? PyTuple_GetSlice(constants, 0, count) : PyErr_NoMemory();
    CodeNotes *notes = seen ? code_notes_for(ticked) : NULL;
    if (!notes) {
        if (seen) PyErr_NoMemory();
        PyMem_Free(twin);
        Py_XDECREF(seen);
        return -1;
    }
    *twin = (Twin){Py_NewRef(plain), seen, Py_NewRef(places), Py_NewRef(bare), 0};
    Twin *before = notes->twin;
    notes->twin = twin;
    twin_free(before);
    return 0;
}

#else

PyObject *code_lines(PyObject *code) { return PyObject_CallMethod(code, "co_lines", NULL); }

int twin_set(PyObject *ticked, PyObject *plain, PyObject *places, PyObject *bare) {
    (void)ticked, (void)plain, (void)places, (void)bare;
    PyErr_SetString(PyExc_RuntimeError, "twins are Python 3.11's; this one has sys.monitoring");
    return -1;
}

#endif

void twin_free(Twin *twin) {
    if (!twin) return;
    Py_DECREF(twin->plain);
    Py_DECREF(twin->consts);
    Py_DECREF(twin->places);
    Py_DECREF(twin->bare);
    PyMem_Free(twin);
}
