/* Macros for tables of methods. */
#ifndef STEPSCOPE_METHODS_H
#define STEPSCOPE_METHODS_H

#include "python/compat.h"

#define NOARGS(name, function) {name, function, METH_NOARGS, NULL}
#define ONE(name, function) {name, function, METH_O, NULL}
#define ARGS(name, function) {name, function, METH_VARARGS, NULL}
#define FAST(name, function) {name, (PyCFunction)(void *)function, METH_FASTCALL, NULL}
#define KEYWORDS(name, function) \
    {name, (PyCFunction)(void *)function, METH_VARARGS | METH_KEYWORDS, NULL}

#endif
