#include "store.h"

#include <stdlib.h>
#include <string.h>

bool has_ids(const cl_store *store) {
  return store->layout == CL_HIDX || store->layout == CL_HSPLIT;
}

bool has_hot_table(const cl_store *store) { return store->layout == CL_HSPLIT; }

// MARK: Opening

static int open_tables(cl_store *store) {
  MDB_txn *txn;
  int code = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (code) return code;
  unsigned flags = MDB_CREATE | MDB_INTEGERKEY;
  unsigned record_flags = store->layout == CL_URL ? MDB_CREATE : flags;
  if (!code) code = mdb_dbi_open(txn, "records", record_flags, &store->records);
  if (!code) code = mdb_dbi_open(txn, "states", MDB_CREATE, &store->states);
  if (!code && has_ids(store)) code = mdb_dbi_open(txn, "keys", flags, &store->keys);
  if (!code && has_hot_table(store)) code = mdb_dbi_open(txn, "hot", flags, &store->hot);
  if (code) {
    mdb_txn_abort(txn);
    return code;
  }
  return mdb_txn_commit(txn);
}

static int open_cursors(const cl_store *store, cursors *at) {
  int code = mdb_cursor_open(at->txn, store->records, &at->records);
  if (!code) code = mdb_cursor_open(at->txn, store->states, &at->states);
  if (!code && has_ids(store)) code = mdb_cursor_open(at->txn, store->keys, &at->keys);
  if (!code && has_hot_table(store)) code = mdb_cursor_open(at->txn, store->hot, &at->hot);
  return code;
}

int cl_open(cl_store **opened, const char *path, cl_layout layout) {
  cl_store *store = calloc(1, sizeof *store);
  if (!store) abort();
  store->layout = layout;
  int code = mdb_env_create(&store->env);
  if (!code) code = mdb_env_set_maxdbs(store->env, 8);
  if (!code) code = mdb_env_set_mapsize(store->env, (size_t)16 << 30);
  if (!code) code = mdb_env_open(store->env, path, MDB_NOTLS | MDB_NORDAHEAD, 0600);
  if (!code) code = open_tables(store);
  if (!code) code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader.txn);
  if (!code) code = open_cursors(store, &store->reader);
  if (code) {
    cl_close(store);
    return code;
  }
  mdb_txn_reset(store->reader.txn);
  *opened = store;
  return 0;
}

static void close_cursors(cursors *at) {
  MDB_cursor *all[] = {at->keys, at->records, at->hot, at->states};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]) mdb_cursor_close(all[i]);
  }
}

void cl_close(cl_store *store) {
  if (store->writer.txn) {
    close_cursors(&store->writer);
    mdb_txn_abort(store->writer.txn);
  }
  close_cursors(&store->reader);
  if (store->reader.txn) mdb_txn_abort(store->reader.txn);
  if (store->env) mdb_env_close(store->env);
  free(store->new_keys);
  free(store->new_states);
  free(store->entries);
  free(store);
}

const char *cl_message(int code) {
  return code == CL_WRONG_RECORD ? "the record is that of another URL" : mdb_strerror(code);
}

const char *cl_lmdb_version(void) { return mdb_version(NULL, NULL, NULL); }

// MARK: Transactions

int begin_reading(cl_store *store) {
  cursors *at = &store->reader;
  int code = mdb_txn_renew(at->txn);
  if (!code) code = mdb_cursor_renew(at->txn, at->records);
  if (!code) code = mdb_cursor_renew(at->txn, at->states);
  if (!code && at->keys) code = mdb_cursor_renew(at->txn, at->keys);
  if (!code && at->hot) code = mdb_cursor_renew(at->txn, at->hot);
  return code;
}

void end_reading(cl_store *store) { mdb_txn_reset(store->reader.txn); }

int cl_begin(cl_store *store) {
  store->writer = (cursors){0};
  int code = mdb_txn_begin(store->env, NULL, 0, &store->writer.txn);
  if (code) return code;
  code = open_cursors(store, &store->writer);
  MDB_val key, value;
  if (!code && has_ids(store)) {
    code = mdb_cursor_get(store->writer.records, &key, &value, MDB_LAST);
    store->last_id = 0;
    if (!code) memcpy(&store->last_id, key.mv_data, sizeof store->last_id);
    if (code == MDB_NOTFOUND) code = 0;
  }
  return code;
}

// MARK: Finding

state_key state_key_of_number(uint8_t state, uint64_t number) {
  state_key key = {.count = 1 + sizeof number};
  key.bytes[0] = state;
  for (size_t i = 0; i < sizeof number; i++) {
    key.bytes[1 + i] = (unsigned char)(number >> (56 - 8 * i));
  }
  return key;
}

state_key state_key_of_url(uint8_t state, cl_text url) {
  state_key key = {.count = 1 + url.count};
  key.bytes[0] = state;
  memcpy(key.bytes + 1, url.bytes, url.count);
  return key;
}

int find(const cl_store *store, cursors *at, cl_text url, uint64_t *number, MDB_val *record) {
  MDB_val key = {sizeof *number, number};
  int code;
  if (store->layout == CL_URL) {
    // The key is the URL itself.
    key = (MDB_val){url.count, (void *)url.bytes};
    return mdb_cursor_get(at->records, &key, record, MDB_SET);
  }
  *number = hash_of(url);
  if (has_ids(store)) {
    code = mdb_cursor_get(at->keys, &key, record, MDB_SET);
    if (code) return code;
    memcpy(number, record->mv_data, sizeof *number);
  }
  key = (MDB_val){sizeof *number, number};
  code = mdb_cursor_get(at->records, &key, record, MDB_SET);
  if (code) return code;
  const char *cold = record->mv_data;
  if (!has_hot_table(store)) cold += sizeof(hot_part);
  // Two URLs with the same hash are rejected; a real store would keep a list.
  return is_cold_of(cold, url) ? 0 : CL_WRONG_RECORD;
}

int parts_of(const cl_store *store, cursors *at, uint64_t id, const MDB_val *record,
             const void **hot, const void **cold) {
  if (!has_hot_table(store)) {
    *hot = record->mv_data;
    *cold = (const char *)record->mv_data + sizeof(hot_part);
    return 0;
  }
  MDB_val key = {sizeof id, &id}, value;
  int code = mdb_cursor_get(at->hot, &key, &value, MDB_SET);
  if (code) return code;
  *hot = value.mv_data;
  *cold = record->mv_data;
  return 0;
}
