/* Preloaded: the write whose number is in SHORT_WRITE writes a part of its bytes, as SHORT_PART
   says, and tells so. Then a file is made at SHORT_DONE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long count;

static size_t part(int fd, size_t bytes)
{
    const char *number = getenv("SHORT_WRITE"), *how = getenv("SHORT_PART"), *done = getenv("SHORT_DONE");
    if (!number || !how || !done || bytes < 2 || fd < 3 || atomic_fetch_add(&count, 1) + 1 != atol(number))
        return bytes;
    int mark = open(done, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (mark >= 0)
        close(mark);
    return !strcmp(how, "one") ? 1 : !strcmp(how, "half") ? bytes / 2 : bytes - 1;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return real(fd, from, part(fd, bytes));
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real)
        real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return real(fd, from, part(fd, bytes), at);
}
