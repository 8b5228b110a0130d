/* Address space for the streams: only as much as is in use, and growing in place. */
#ifndef STEPSCOPE_ADDRESS_SPACE_H
#define STEPSCOPE_ADDRESS_SPACE_H

#include <stddef.h>

size_t page_size(void);
size_t round_to_page(size_t bytes);

/* A place with nothing above it for gigabytes. Nothing is reserved: what is not in use counts
   against no limit. NULL: the system has no address to give. */
char *space_find(void);

/* Map `bytes` at `at`; below `ours_until` it replaces what is there, above it must be free.
   fd -1: memory. 0, or -1 with errno set. */
int space_map(char *at, size_t bytes, char *ours_until, int fd, size_t offset);

/* Put empty memory in the place of what is mapped there; if the limits allow no more, memory that can
   only be read will do where `or_readable` says so. 0, or -1: refused. */
int space_empty(char *at, size_t bytes, int or_readable);

/* Whether the script's limits leave room for `bytes` of ours in all. */
int space_is_allowed(size_t bytes, int in_memory);

#endif
