// Records the system calls that change files below a folder. Loaded with LD_PRELOAD.
//
// DLSTORE_RECORD_ROOT is the folder, DLSTORE_RECORD_LOG the file that records are appended to. Each
// call and its record are made under one lock that all processes share, so the order of the records
// is the order of the calls. A sync has two records, because other threads write while it waits.
//
// The layout of a record is `struct record`, two paths and the bytes; Recording.swift reads it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum operation {
  OPEN = 1,
  WRITE = 2,
  TRUNCATE = 3,
  SYNC_BEGIN = 4,
  SYNC_END = 5,
  LINK = 6,
  RENAME = 7,
  UNLINK = 8,
  MAKE_FOLDER = 9,
  UNSUPPORTED = 10,
  TOUCH = 11,
};

enum { IS_DURABLE = 1, IS_FOLDER = 2 };

struct record {
  uint32_t operation;
  uint32_t flags;
  uint64_t inode;
  int64_t offset;
  int64_t modified;
  uint64_t thread;
  uint32_t path_size;
  uint32_t second_path_size;
  uint64_t data_size;
};

static const char *root;
static size_t root_size;
static int log_file = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DLSTORE_RECORD_LOG");
  root = getenv("DLSTORE_RECORD_ROOT");
  if (path == NULL || root == NULL) return;
  root_size = strlen(root);
  int file = REAL(open)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) abort();
  // The program may expect to receive the low descriptor numbers.
  log_file = fcntl(file, F_DUPFD_CLOEXEC, 500);
  if (log_file < 0) abort();
  REAL(close)(file);
}

static void lock(void) {
  pthread_mutex_lock(&mutex);
  while (flock(log_file, LOCK_EX) != 0) if (errno != EINTR) abort();
}

static void unlock(void) {
  int code = errno;
  flock(log_file, LOCK_UN);
  pthread_mutex_unlock(&mutex);
  errno = code;
}

// LMDB writes its lock file through a memory map, and the first process after a boot recreates it.
static int is_tracked_path(const char *path) {
  if (log_file < 0 || path == NULL || strncmp(path, root, root_size) != 0) return 0;
  if (path[root_size] != '/' && path[root_size] != 0) return 0;
  size_t size = strlen(path);
  return size < 9 || strcmp(path + size - 9, "/lock.mdb") != 0;
}

// Writes the path of an open file to `path`. Safe in a signal handler.
static void path_of(int file, char path[PATH_MAX + 1]) {
  char link[32] = "/proc/self/fd/", digits[16];
  int count = 0, code = errno;
  do digits[count++] = (char)('0' + file % 10); while ((file /= 10) > 0);
  for (int i = 0; i < count; i++) link[14 + i] = digits[count - 1 - i];
  ssize_t size = readlink(link, path, PATH_MAX);
  path[size < 0 ? 0 : size] = 0;
  errno = code;
}

static int is_tracked(int file) {
  char path[PATH_MAX + 1];
  if (log_file < 0 || file < 0) return 0;
  path_of(file, path);
  return is_tracked_path(path);
}

static void append(struct record record, const char *path, const char *second,
                   const struct iovec *parts, int count, size_t data_size) {
  int code = errno;
  struct iovec out[16];
  record.thread = (uint64_t)syscall(SYS_gettid);
  record.path_size = path ? (uint32_t)strlen(path) : 0;
  record.second_path_size = second ? (uint32_t)strlen(second) : 0;
  record.data_size = data_size;
  out[0] = (struct iovec){&record, sizeof record};
  out[1] = (struct iovec){(void *)path, record.path_size};
  out[2] = (struct iovec){(void *)second, record.second_path_size};
  size_t left = sizeof record + record.path_size + record.second_path_size;
  if (REAL(writev)(log_file, out, 3) != (ssize_t)left) abort();
  for (int i = 0; i < count && data_size > 0; i++) {
    size_t size = parts[i].iov_len < data_size ? parts[i].iov_len : data_size;
    for (size_t done = 0; done < size;) {
      ssize_t got = REAL(write)(log_file, (char *)parts[i].iov_base + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) abort();
      done += (size_t)got;
    }
    data_size -= size;
  }
  errno = code;
}

static struct record about(int file, enum operation operation) {
  struct stat status;
  int code = errno;
  struct record record = {.operation = operation};
  if (fstat(file, &status) == 0) {
    record.inode = status.st_ino;
    record.modified = status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
    record.flags = S_ISDIR(status.st_mode) ? IS_FOLDER : 0;
  }
  int flags = fcntl(file, F_GETFL);
  // O_SYNC contains O_DSYNC.
  if (flags >= 0 && (flags & O_DSYNC)) record.flags |= IS_DURABLE;
  errno = code;
  return record;
}

static void note_write(int file, int64_t offset, const struct iovec *parts, int count, ssize_t size) {
  if (size <= 0) return;
  struct record record = about(file, WRITE);
  record.offset = offset;
  append(record, NULL, NULL, parts, count, (size_t)size);
}

static void note_cut(int file, int64_t size) {
  struct record record = about(file, TRUNCATE);
  record.offset = size;
  append(record, NULL, NULL, NULL, 0, 0);
}

// MARK: Opening

static int opened(const char *path, int flags, int file) {
  if (file < 0) return file;
  struct record record = about(file, OPEN);
  if (!(record.flags & IS_FOLDER)) append(record, path, NULL, NULL, 0, 0);
  if ((flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY) note_cut(file, 0);
  return file;
}

#define OPEN_LIKE(name)                                                  \
  int name(const char *path, int flags, ...) {                           \
    va_list list;                                                        \
    va_start(list, flags);                                               \
    mode_t mode = va_arg(list, mode_t);                                  \
    va_end(list);                                                        \
    if (!is_tracked_path(path)) return REAL(name)(path, flags, mode);    \
    lock();                                                              \
    int file = opened(path, flags, REAL(name)(path, flags, mode));       \
    unlock();                                                            \
    return file;                                                         \
  }

#define OPENAT_LIKE(name)                                                       \
  int name(int folder, const char *path, int flags, ...) {                      \
    va_list list;                                                               \
    va_start(list, flags);                                                      \
    mode_t mode = va_arg(list, mode_t);                                         \
    va_end(list);                                                               \
    if (!is_tracked_path(path)) return REAL(name)(folder, path, flags, mode);   \
    lock();                                                                     \
    int file = opened(path, flags, REAL(name)(folder, path, flags, mode));      \
    unlock();                                                                   \
    return file;                                                                \
  }

OPEN_LIKE(open)
OPEN_LIKE(open64)
OPENAT_LIKE(openat)
OPENAT_LIKE(openat64)

int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// MARK: Writing

#define WRITE_AT(name, offset_type)                                                   \
  ssize_t name(int file, const void *bytes, size_t size, offset_type offset) {        \
    if (!is_tracked(file)) return REAL(name)(file, bytes, size, offset);              \
    lock();                                                                           \
    ssize_t written = REAL(name)(file, bytes, size, offset);                          \
    struct iovec part = {(void *)bytes, size};                                        \
    note_write(file, offset, &part, 1, written);                                      \
    unlock();                                                                         \
    return written;                                                                   \
  }

#define WRITE_PARTS_AT(name, offset_type)                                             \
  ssize_t name(int file, const struct iovec *parts, int count, offset_type offset) {  \
    if (!is_tracked(file)) return REAL(name)(file, parts, count, offset);             \
    lock();                                                                           \
    ssize_t written = REAL(name)(file, parts, count, offset);                         \
    note_write(file, offset, parts, count, written);                                  \
    unlock();                                                                         \
    return written;                                                                   \
  }

WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)
WRITE_PARTS_AT(pwritev, off_t)
WRITE_PARTS_AT(pwritev64, off64_t)

ssize_t write(int file, const void *bytes, size_t size) {
  if (!is_tracked(file)) return REAL(write)(file, bytes, size);
  lock();
  ssize_t written = REAL(write)(file, bytes, size);
  struct iovec part = {(void *)bytes, size};
  note_write(file, lseek(file, 0, SEEK_CUR) - written, &part, 1, written);
  unlock();
  return written;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  if (!is_tracked(file)) return REAL(writev)(file, parts, count);
  lock();
  ssize_t written = REAL(writev)(file, parts, count);
  note_write(file, lseek(file, 0, SEEK_CUR) - written, parts, count, written);
  unlock();
  return written;
}

#define FTRUNCATE(name, size_type)                                \
  int name(int file, size_type size) {                            \
    if (!is_tracked(file)) return REAL(name)(file, size);         \
    lock();                                                       \
    int code = REAL(name)(file, size);                            \
    if (code == 0) note_cut(file, size);                          \
    unlock();                                                     \
    return code;                                                  \
  }

FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

int futimens(int file, const struct timespec times[2]) {
  if (!is_tracked(file)) return REAL(futimens)(file, times);
  lock();
  int code = REAL(futimens)(file, times);
  if (code == 0) append(about(file, TOUCH), NULL, NULL, NULL, 0, 0);
  unlock();
  return code;
}

#define TRUNCATE(name, size_type)                                 \
  int name(const char *path, size_type size) {                    \
    if (!is_tracked_path(path)) return REAL(name)(path, size);    \
    lock();                                                       \
    int code = REAL(name)(path, size);                            \
    int file = code == 0 ? REAL(open)(path, O_RDONLY | O_CLOEXEC) : -1; \
    if (file >= 0) {                                              \
      note_cut(file, size);                                       \
      REAL(close)(file);                                          \
    }                                                             \
    unlock();                                                     \
    return code;                                                  \
  }

TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

// MARK: Syncing

#define SYNC(name)                                                  \
  int name(int file) {                                              \
    if (!is_tracked(file)) return REAL(name)(file);                 \
    char path[PATH_MAX + 1];                                        \
    path_of(file, path);                                            \
    lock();                                                         \
    append(about(file, SYNC_BEGIN), path, NULL, NULL, 0, 0);        \
    unlock();                                                       \
    int code = REAL(name)(file);                                    \
    if (code == 0) {                                                \
      lock();                                                       \
      append(about(file, SYNC_END), path, NULL, NULL, 0, 0);        \
      unlock();                                                     \
    }                                                               \
    return code;                                                    \
  }

SYNC(fsync)
SYNC(fdatasync)

// MARK: Names

static int named(int code, enum operation operation, const char *path, const char *second) {
  if (code == 0) append((struct record){.operation = operation}, path, second, NULL, 0, 0);
  return code;
}

#define NAMED(name, operation, path, second, parameters, ...)        \
  int name parameters {                                              \
    if (!is_tracked_path(path)) return REAL(name)(__VA_ARGS__);      \
    lock();                                                          \
    int code = named(REAL(name)(__VA_ARGS__), operation, path, second); \
    unlock();                                                        \
    return code;                                                     \
  }

NAMED(rename, RENAME, old, new, (const char *old, const char *new), old, new)
NAMED(link, LINK, old, new, (const char *old, const char *new), old, new)
NAMED(unlink, UNLINK, path, NULL, (const char *path), path)
NAMED(rmdir, UNLINK, path, NULL, (const char *path), path)
NAMED(mkdir, MAKE_FOLDER, path, NULL, (const char *path, mode_t mode), path, mode)

// The path may be relative to an open folder.
int unlinkat(int folder, const char *name, int flags) {
  char path[2 * PATH_MAX + 2];
  if (name[0] == '/' || folder < 0) {
    snprintf(path, sizeof path, "%s", name);
  } else {
    path_of(folder, path);
    size_t size = strlen(path);
    snprintf(path + size, sizeof path - size, "/%s", name);
  }
  if (!is_tracked_path(path)) return REAL(unlinkat)(folder, name, flags);
  lock();
  int code = named(REAL(unlinkat)(folder, name, flags), UNLINK, path, NULL);
  unlock();
  return code;
}

NAMED(mkdirat, MAKE_FOLDER, path, NULL, (int folder, const char *path, mode_t mode), folder, path,
      mode)
NAMED(renameat, RENAME, old, new, (int a, const char *old, int b, const char *new), a, old, b, new)
NAMED(linkat, LINK, old, new, (int a, const char *old, int b, const char *new, int flags), a, old, b,
      new, flags)
// An exchange of two names is recorded as unsupported, and the reader rejects the recording.
NAMED(renameat2, flags > 1 ? UNSUPPORTED : RENAME, old, new,
      (int a, const char *old, int b, const char *new, unsigned flags), a, old, b, new, flags)
