// Measures small files on a disk and its file system, without an engine:
// small-files COUNT RUNS [FOLDER]
//
// Creates, syncs and renames COUNT files, four at a time. After each four, writes 24 pages of a large
// file in RUNS places and syncs them, as a commit of LMDB does. Prints the rate of each tenth. The
// folder must not exist; it is left behind, because deleting many files slows down later runs.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
// Its headers do not declare fdatasync.
#define fdatasync fsync
#endif

enum { files_at_once = 4, pages_per_commit = 24, page_size = 4096, store_pages = 600 << 8 };

static int partial, complete;

static void check(int succeeded, const char *call) {
  if (succeeded) return;
  fprintf(stderr, "small-files: %s: %s\n", call, strerror(errno));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *complete_file(void *argument) {
  char name[32];
  snprintf(name, sizeof name, "%ld", *(const long *)argument);
  int file = openat(partial, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  check(file >= 0, "openat");
  check(write(file, "sixteen bytes...", 16) == 16, "write");
  check(fsync(file) == 0, "fsync");
  close(file);
  check(renameat(partial, name, complete, name) == 0, "renameat");
  return NULL;
}

static void complete_files(long first) {
  pthread_t threads[files_at_once];
  long numbers[files_at_once];
  for (int i = 0; i < files_at_once; i++) {
    numbers[i] = first + i;
    errno = pthread_create(&threads[i], NULL, complete_file, &numbers[i]);
    check(errno == 0, "pthread_create");
  }
  for (int i = 0; i < files_at_once; i++) pthread_join(threads[i], NULL);
  check(fsync(complete) == 0, "fsync");
}

/// Writes the pages of a commit, syncs them, and writes a meta page with a descriptor that syncs.
static void commit(int store, int meta, const char *pages, int runs) {
  for (int run = 0; run < runs; run++) {
    size_t size = (pages_per_commit / runs + (run < pages_per_commit % runs)) * page_size;
    off_t place = (2 + random() % (store_pages - 2 - pages_per_commit)) * page_size;
    check(pwrite(store, pages, size, place) == (ssize_t)size, "pwrite");
  }
  check(fdatasync(store) == 0, "fdatasync");
  check(pwrite(meta, pages, 120, 32) == 120, "pwrite");
}

static int opened(const char *name, int flags) {
  int file = open(name, flags | O_CLOEXEC, 0644);
  check(file >= 0, name);
  return file;
}

int main(int count, char **arguments) {
  long files = count > 2 ? atol(arguments[1]) : 0;
  int runs = count > 2 ? atoi(arguments[2]) : 0;
  if (files < 10 * files_at_once || runs < 1 || runs > pages_per_commit) {
    fprintf(stderr, "usage: small-files COUNT RUNS [FOLDER]; at least 40 files, 1 to 24 runs\n");
    return 64;
  }
  const char *folder = count > 3 ? arguments[3] : ".build/small-files";
  check(mkdir(folder, 0755) == 0 && chdir(folder) == 0, folder);
  check(mkdir("partial", 0755) == 0 && mkdir("complete", 0755) == 0, "mkdir");
  partial = opened("partial", O_RDONLY);
  complete = opened("complete", O_RDONLY);
  int store = opened("store", O_CREAT | O_RDWR);
  int meta = opened("store", O_RDWR | O_DSYNC);
  char *pages = calloc(pages_per_commit, page_size);
  check(pages != NULL, "calloc");
  for (int page = 0; page < store_pages; page++)
    check(write(store, pages, page_size) == page_size, "write");
  check(fsync(store) == 0, "fsync");

  double start = now();
  long tenth = 1, first = 0;
  for (long done = files_at_once; done <= files; done += files_at_once) {
    complete_files(done - files_at_once);
    commit(store, meta, pages, runs);
    if (done < files * tenth / 10) continue;
    double end = now();
    printf("%ld\t%.0f files per second\n", done, (double)(done - first) / (end - start));
    fflush(stdout);
    start = end, first = done, tenth++;
  }
}
