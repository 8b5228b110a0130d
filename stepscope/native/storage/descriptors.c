/* Our descriptors: high numbers, checked before each use. */
#define _GNU_SOURCE
#include "storage/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERED_FROM = 400 }; /* the script's own begin at 3, as without us; select() ends at 1024 */

/* If the process may not use a number so high, it keeps the one it has. */
static int moved_up(int fd) {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, NUMBERED_FROM);
    if (high < 0) return fd;
    close(fd);
    return high;
}

int descriptor_open(Descriptor *descriptor, const char *path, int flags) {
    struct stat about;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0644);
    descriptor->fd = -1;
    if (fd < 0) return -1;
    fd = moved_up(fd);
    if (fstat(fd, &about)) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    *descriptor = (Descriptor){fd, about.st_dev, about.st_ino};
    return 0;
}

int descriptor_is_ours(const Descriptor *descriptor) {
    struct stat about;
    return descriptor->fd >= 0 && !fstat(descriptor->fd, &about) &&
           about.st_dev == descriptor->device && about.st_ino == descriptor->file;
}

int descriptor_reopen(Descriptor *descriptor, const char *path, int flags) {
    Descriptor before = *descriptor;
    if (descriptor_open(descriptor, path, flags)) return -1;
    if (descriptor->device == before.device && descriptor->file == before.file) return 0;
    descriptor_close(descriptor);
    errno = ESTALE;
    return -1;
}

void descriptor_close(Descriptor *descriptor) {
    if (descriptor_is_ours(descriptor)) close(descriptor->fd);
    descriptor->fd = -1;
}

int descriptor_pread(Descriptor *descriptor, const char *path, char *text, size_t size) {
    if (!descriptor_is_ours(descriptor) && descriptor_open(descriptor, path, O_RDONLY)) return -1;
    ssize_t length = pread(descriptor->fd, text, size - 1, 0);
    if (length <= 0) return -1;
    text[length] = 0;
    return 0;
}
