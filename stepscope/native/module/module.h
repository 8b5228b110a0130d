/* The tables of methods that module.c puts together. */
#ifndef STEPSCOPE_MODULE_H
#define STEPSCOPE_MODULE_H

#include "python/methods.h"

extern PyMethodDef event_functions[]; /* module_events.c */

#endif
