/* Our descriptors: out of the script's way, and not used once the script has closed them. */
#ifndef STEPSCOPE_DESCRIPTORS_H
#define STEPSCOPE_DESCRIPTORS_H

#include <sys/types.h>

typedef struct {
    int fd;      /* -1: none */
    dev_t device;
    ino_t file;  /* which file it was when we opened it */
} Descriptor;

#define NO_DESCRIPTOR {.fd = -1}

/* 0, or -1 with errno set. */
int descriptor_open(Descriptor *descriptor, const char *path, int flags);

/* A script may close every descriptor that it does not know (daemons do), and the number may be
   one of its own files by now. 0 then. */
int descriptor_is_ours(const Descriptor *descriptor);

/* Reopen the same file after the script closed it. 0, or -1: not possible. */
int descriptor_reopen(Descriptor *descriptor, const char *path, int flags);

/* The whole text of a file below /proc, which is made anew for each call: without opening and closing
   it each time. 0, or -1. */
int descriptor_pread(Descriptor *descriptor, const char *path, char *text, size_t size);

void descriptor_close(Descriptor *descriptor);

#endif
