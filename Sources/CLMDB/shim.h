#ifndef CLMDB_SHIM_H
#define CLMDB_SHIM_H
#include <lmdb.h>

#if defined(__linux__)
/* <fcntl.h> declares it with _GNU_SOURCE alone. */
extern int fallocate(int descriptor, int mode, off_t offset, off_t length);
#endif

/* Requests the cache line of an address that will be read soon. Harmless for any address. */
static inline void clmdb_prefetch(const void *address) {
  __builtin_prefetch(address);
}
#endif
