/* Loaded before the C library: of the large allocations of a process, one fails, as where memory has run out.
   memory_begin(n, least) starts counting those of at least so many bytes and fails the n-th (0: none); memory_end() stops
   and says how many there were. The C library's own names for its functions are used: asking for them would allocate. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_int calls, counting;
static int fail_at;
static size_t least_size;

void memory_begin(int n, size_t least) {
    fail_at = n;
    least_size = least;
    atomic_store(&calls, 0);
    atomic_store(&counting, 1);
}

int memory_end(void) {
    atomic_store(&counting, 0);
    return atomic_load(&calls);
}

static int fails(size_t size) {
    if (!atomic_load(&counting) || size < least_size) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != fail_at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }
void *realloc(void *old, size_t size) { return fails(size) ? NULL : __libc_realloc(old, size); }
void *memalign(size_t to, size_t size) { return fails(size) ? NULL : __libc_memalign(to, size); }
void *aligned_alloc(size_t to, size_t size) { return fails(size) ? NULL : __libc_memalign(to, size); }

void *calloc(size_t count, size_t size) {
    size_t whole;
    if (!__builtin_mul_overflow(count, size, &whole) && fails(whole)) return NULL;
    return __libc_calloc(count, size);
}

int posix_memalign(void **out, size_t to, size_t size) {
    if (fails(size)) return ENOMEM;
    void *found = __libc_memalign(to, size);
    if (!found) return ENOMEM;
    *out = found;
    return 0;
}

static void *mapped(const char *name, void *at, size_t size, int how, int flags, int fd, off_t from) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, name);
    if ((flags & MAP_ANONYMOUS) && fails(size)) return MAP_FAILED;
    return real(at, size, how, flags, fd, from);
}

void *mmap(void *at, size_t size, int how, int flags, int fd, off_t from) {
    return mapped("mmap", at, size, how, flags, fd, from);
}

void *mmap64(void *at, size_t size, int how, int flags, int fd, off_t from) {
    return mapped("mmap64", at, size, how, flags, fd, from);
}
