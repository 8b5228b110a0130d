/* Our files that only grow. Written while holding the GIL: the sampler's thread names what it saw,
   and code that inspects Python's threads must not find it in the middle of that. */
#define _GNU_SOURCE
#include "storage/append_file.h"
#include "storage/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAGS = O_WRONLY | O_CREAT | O_APPEND };

typedef struct {
    PyObject_HEAD
    PyObject *path; /* bytes, owned */
    Descriptor descriptor;
} AppendFile;

/* Beyond the limit the system sends SIGXFSZ, which ends a script that does not ignore it. */
static int may_have(size_t size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit)) return 0;
    return limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* All of it or nothing: half a line would spoil the next one too. */
static int write_whole(int fd, const char *bytes, size_t size) {
    struct stat before;
    if (fstat(fd, &before) || !may_have((size_t)before.st_size + size)) return 0;
    for (size_t done = 0; done < size;) {
        ssize_t written = write(fd, bytes + done, size - done);
        if (written > 0) done += (size_t)written;
        else if (written == 0 || errno != EINTR) return ftruncate(fd, before.st_size), 0;
    }
    return 1;
}

/* Reopened if the script closed it; if we closed it, it stays closed. */
static int is_usable(AppendFile *file) {
    if (file->descriptor.fd < 0) return 0;
    if (descriptor_is_ours(&file->descriptor)) return 1;
    Descriptor again;
    if (descriptor_open(&again, PyBytes_AS_STRING(file->path), FLAGS)) return 0;
    file->descriptor = again;
    return 1;
}

static PyObject *append(PyObject *self, PyObject *data) {
    AppendFile *file = (AppendFile *)self;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(data, &bytes, &size)) return NULL;
    if (!is_usable(file)) Py_RETURN_FALSE;
    return PyBool_FromLong(write_whole(file->descriptor.fd, bytes, (size_t)size));
}

static PyObject *close_file(PyObject *self, PyObject *unused) {
    (void)unused;
    descriptor_close(&((AppendFile *)self)->descriptor);
    Py_RETURN_NONE;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)keywords;
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
    AppendFile *file = (AppendFile *)type->tp_alloc(type, 0);
    if (!file) {
        Py_DECREF(path);
        return NULL;
    }
    file->path = path;
    if (descriptor_open(&file->descriptor, PyBytes_AS_STRING(path), FLAGS)) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AS_STRING(path));
        Py_CLEAR(file);
    }
    return (PyObject *)file;
}

static void destroy(PyObject *self) {
    descriptor_close(&((AppendFile *)self)->descriptor);
    Py_XDECREF(((AppendFile *)self)->path);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"append", append, METH_O, NULL},
    {"close", close_file, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "stepscope.native._core.AppendFile",
    .tp_basicsize = sizeof(AppendFile),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = make,
    .tp_dealloc = destroy,
    .tp_methods = methods,
};

int append_file_ready(PyObject *module) {
    return PyModule_AddType(module, &type);
}
