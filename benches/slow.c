/* Preloaded: a disk whose flushes take SLOW_MS milliseconds longer. A checkpoint's syncfs, which is
   no call of the C library, is as fast as it was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int slowly(const char *name, int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const char *text = getenv("SLOW_MS");
    long ms = text ? atol(text) : 0;
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    int done = real(fd);
    nanosleep(&wait, NULL);
    return done;
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
