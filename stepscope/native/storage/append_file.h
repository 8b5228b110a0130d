/* AppendFile, as Python sees it. */
#ifndef STEPSCOPE_APPEND_FILE_H
#define STEPSCOPE_APPEND_FILE_H

#include "python/compat.h"

/* 0, or -1 with an exception set. */
int append_file_ready(PyObject *module);

#endif
