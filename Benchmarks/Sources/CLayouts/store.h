#ifndef CLAYOUTS_STORE_H
#define CLAYOUTS_STORE_H

#include <lmdb.h>

#include "batch.h"
#include "hash.h"
#include "record.h"

/// A transaction with one cursor on each table.
typedef struct {
  MDB_txn *txn;
  MDB_cursor *keys, *records, *hot, *states;
} cursors;

/// The key of the index on the state: the state, then the id or the hash in big-endian order, or
/// the URL.
typedef struct {
  unsigned char bytes[512];
  size_t count;
} state_key;

/// A record to be written in key order.
typedef struct {
  /// The hash or the id.
  uint64_t key;
  const cl_download *download;
} entry;

/// An entry of the key table.
typedef struct {
  uint64_t hash, id;
} key_pair;

struct cl_store {
  MDB_env *env;
  cl_layout layout;
  /// Hash to id, in the layouts that have ids.
  MDB_dbi keys;
  /// URL, hash or id to the record, or to its cold part.
  MDB_dbi records;
  /// Id to the hot part, in the layout with separate parts.
  MDB_dbi hot;
  MDB_dbi states;

  /// Renewed with each use.
  cursors reader;
  cursors writer;

  // Collected by a write for its commit.
  uint64_t last_id;
  key_pair *new_keys;
  size_t new_key_count, new_key_capacity;
  /// State and id in one number.
  uint64_t *new_states;
  size_t new_state_count, new_state_capacity;
  entry *entries;
  size_t entry_capacity;
};

bool has_ids(const cl_store *store);
bool has_hot_table(const cl_store *store);

int begin_reading(cl_store *store);
void end_reading(cl_store *store);

state_key state_key_of_number(uint8_t state, uint64_t number);
state_key state_key_of_url(uint8_t state, cl_text url);

/// Finds the record of the URL, or its cold part, and checks that it belongs to the URL.
///
/// Sets `key` to the id in the layouts with ids, and to the hash where the hash is the key.
int find(const cl_store *store, cursors *at, cl_text url, uint64_t *key, MDB_val *record);

/// Returns the two parts of the record under the cursor.
int parts_of(const cl_store *store, cursors *at, uint64_t id, const MDB_val *record,
             const void **hot, const void **cold);

#endif
