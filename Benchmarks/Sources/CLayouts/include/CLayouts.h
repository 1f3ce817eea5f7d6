#ifndef CLAYOUTS_H
#define CLAYOUTS_H

// Download records on liblmdb, in four layouts: what our store is measured against. Packed by hand,
// without checksums, versions or types; every access by URL proves that the record is that of the
// URL. Every layout has an index on the state: composite keys with empty values.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Records

typedef struct {
  const char *bytes;
  size_t count;
} cl_text;

/// A download; texts without bytes are absent, and so is a date that is not a number.
typedef struct {
  cl_text url, name, destination, type, entity_tag, resume_blob;
  const cl_text *tags;
  size_t tag_count;
  double created_at, completed_at, updated_at;
  int64_t received, expected;
  int32_t priority, failed_attempts;
  uint8_t state;
} cl_download;

/// Frees the texts of a download that the store has made.
void cl_download_free(cl_download *download);

/// Adds up what was read, so that nobody can skip the reading.
typedef struct {
  uint64_t count;
  /// Of all texts, tags and blobs.
  uint64_t bytes;
  int64_t received;
} cl_digest;

// MARK: Batches

/// Downloads with copies of their texts, as a C program would have them at hand.
typedef struct cl_batch cl_batch;

cl_batch *cl_batch_make(void);
void cl_batch_free(cl_batch *batch);
/// Copies the download and its texts.
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

/// A store; one thread may read beside one that writes.
typedef struct cl_store cl_store;

/// What the functions return besides 0 and the codes of LMDB: the record of a URL is another's.
#define CL_WRONG_RECORD (-1)

/// Opens the store in the folder, which exists.
int cl_open(cl_store **store, const char *path, cl_layout layout);
void cl_close(cl_store *store);
const char *cl_message(int code);
const char *cl_lmdb_version(void);

// MARK: Writing

int cl_begin(cl_store *store);
/// Adds records that are not there.
///
/// May leave the small tables to the commit, which writes them in the order of their keys.
int cl_insert(cl_store *store, const cl_batch *batch);
/// Replaces records that are there, wholly.
int cl_replace(cl_store *store, const cl_batch *batch);
/// Writes the received bytes and the date of change of records that are there.
int cl_update_progress(cl_store *store, const cl_batch *batch);
/// Durable on return.
int cl_commit(cl_store *store);

// MARK: Reading, each in one read transaction

/// The sum of the received bytes of the records of those URLs.
int cl_sum_received(cl_store *store, const cl_batch *urls, int64_t *sum);
/// Copies the records of those URLs out, one after another.
int cl_read_whole(cl_store *store, const cl_batch *urls, cl_digest *digest);
/// Copies the records of that state out, by the index.
int cl_read_state(cl_store *store, uint8_t state, cl_digest *digest);
/// Counts the records with more received bytes, without an index.
int cl_count_received_above(cl_store *store, int64_t received, uint64_t *count);
/// The record of a URL, to be freed.
int cl_get(cl_store *store, cl_text url, cl_download *download);

#endif
