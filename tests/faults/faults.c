/* Loaded before the C library: of the calls that change a file below a folder, one fails, as on a full or broken disk.
   fault_begin(folder, n) starts counting and fails the n-th call (0: none); fault_end() stops and says how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;
static int fail_at;
static char folder[4096];

void fault_begin(const char *path, int n) {
    fail_at = n;
    atomic_store(&calls, 0);
    strncpy(folder, path, sizeof folder - 1);
}

int fault_end(void) {
    folder[0] = 0;
    return atomic_load(&calls);
}

static int below(const char *path) {
    char here[4096];
    if (!folder[0] || !path) return 0;
    if (path[0] != '/') return getcwd(here, sizeof here) && strncmp(here, folder, strlen(folder)) == 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int watched(int fd) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return below(path);
}

static int fails(void) {
    return atomic_fetch_add(&calls, 1) + 1 == fail_at;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    if (watched(fd) && fails()) { errno = ENOSPC; return -1; }
    return real(fd, data, n);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    REAL(pwrite64);
    if (watched(fd) && fails()) { errno = ENOSPC; return -1; }
    return real(fd, data, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    REAL(writev);
    if (watched(fd) && fails()) { errno = ENOSPC; return -1; }
    return real(fd, parts, n);
}

int fsync(int fd) {
    REAL(fsync);
    if (watched(fd) && fails()) { errno = EIO; return -1; }
    return real(fd);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    if (below(to) && fails()) { errno = EIO; return -1; }
    return real(from, to);
}

int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat);
    if (below(to) && fails()) { errno = EIO; return -1; }
    return real(a, from, b, to);
}

static int opened(int flags, const char *path) { return (flags & O_CREAT) && below(path) && fails(); }

int open64(const char *path, int flags, ...) {
    REAL(open64);
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
    if (opened(flags, path)) { errno = EACCES; return -1; }
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
    if (opened(flags, path)) { errno = EACCES; return -1; }
    return real(path, flags, mode);
}
