#ifndef CLAYOUTS_H
#define CLAYOUTS_H

// Download records on liblmdb in four layouts, for comparison with our store. Packed by hand,
// without checksums, versions or types; every access by URL checks that the record belongs to the
// URL. Every layout has an index on the state: composite keys with empty values.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Records

typedef struct {
  const char *bytes;
  size_t count;
} cl_text;

/// A download. A string without bytes and a NaN date are absent values.
typedef struct {
  cl_text url, name, destination, type, entity_tag, resume_blob;
  const cl_text *tags;
  size_t tag_count;
  double created_at, completed_at, updated_at;
  int64_t received, expected;
  int32_t priority, failed_attempts;
  uint8_t state;
} cl_download;

/// Frees the strings of a download that the store returned.
void cl_download_free(cl_download *download);

/// Sums over the records read, so that the compiler cannot remove the reads.
typedef struct {
  uint64_t count;
  /// The total length of all strings, tags and blobs.
  uint64_t bytes;
  int64_t received;
} cl_digest;

// MARK: Batches

/// Downloads that own copies of their strings.
typedef struct cl_batch cl_batch;

cl_batch *cl_batch_make(void);
void cl_batch_free(cl_batch *batch);
/// Adds a copy of the download and its strings.
void cl_batch_add(cl_batch *batch, const cl_download *download);

// MARK: Stores

typedef enum {
  /// URL to record.
  CL_URL,
  /// Hash of the URL to record.
  CL_HASH,
  /// Hash to sequential id; id to record.
  CL_HIDX,
  /// Hash to sequential id; id to the scalars that change often; id to the rest.
  CL_HSPLIT,
} cl_layout;

/// A store; one thread may read while another writes.
typedef struct cl_store cl_store;

/// An error code besides those of LMDB: the record found by a hash belongs to another URL.
#define CL_WRONG_RECORD (-1)

/// Opens the store in an existing folder.
int cl_open(cl_store **store, const char *path, cl_layout layout);
void cl_close(cl_store *store);
const char *cl_message(int code);
const char *cl_lmdb_version(void);

// MARK: Writing

int cl_begin(cl_store *store);
/// Adds new records.
///
/// May defer the small tables to the commit, which writes them in key order.
int cl_insert(cl_store *store, const cl_batch *batch);
/// Replaces existing records.
int cl_replace(cl_store *store, const cl_batch *batch);
/// Writes the received bytes and the change date of existing records.
int cl_update_progress(cl_store *store, const cl_batch *batch);
/// Durable on return.
int cl_commit(cl_store *store);

// MARK: Reading, each in one read transaction

/// Sums the received bytes of the records with the given URLs.
int cl_sum_received(cl_store *store, const cl_batch *urls, int64_t *sum);
/// Copies the records with the given URLs, one after another.
int cl_read_whole(cl_store *store, const cl_batch *urls, cl_digest *digest);
/// Copies the records in the given state, found by the index.
int cl_read_state(cl_store *store, uint8_t state, cl_digest *digest);
/// Counts the records that received more bytes than the bound, without an index.
int cl_count_received_above(cl_store *store, int64_t received, uint64_t *count);
/// Returns the record of a URL, which the caller frees.
int cl_get(cl_store *store, cl_text url, cl_download *download);

#endif
