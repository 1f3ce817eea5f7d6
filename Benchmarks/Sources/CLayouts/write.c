#include <stdlib.h>
#include <string.h>

#include "store.h"

// MARK: Capacity

static void *grown(void *items, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return items;
  *capacity = count > *capacity * 2 ? count : *capacity * 2;
  items = realloc(items, *capacity * size);
  if (!items) abort();
  return items;
}

// MARK: Order

static int compare_numbers(uint64_t left, uint64_t right) {
  return (left > right) - (left < right);
}

static int by_number(const void *left, const void *right) {
  return compare_numbers(*(const uint64_t *)left, *(const uint64_t *)right);
}

static int by_key(const void *left, const void *right) {
  return compare_numbers(((const entry *)left)->key, ((const entry *)right)->key);
}

static int by_url(const void *left, const void *right) {
  cl_text a = ((const entry *)left)->download->url, b = ((const entry *)right)->download->url;
  int order = memcmp(a.bytes, b.bytes, a.count < b.count ? a.count : b.count);
  return order ? order : (a.count > b.count) - (a.count < b.count);
}

/// The order of the index: by state, then by hash or URL.
static int by_state(const void *left, const void *right) {
  int order = ((const entry *)left)->download->state - ((const entry *)right)->download->state;
  if (!order) order = by_key(left, right);
  return order ? order : by_url(left, right);
}

static void sort(cl_store *store, size_t count) {
  qsort(store->entries, count, sizeof *store->entries, store->layout == CL_URL ? by_url : by_key);
}

/// Sorts the batch by URL or hash.
static void sort_batch(cl_store *store, const cl_batch *batch) {
  store->entries =
      grown(store->entries, &store->entry_capacity, batch->count, sizeof *store->entries);
  for (size_t i = 0; i < batch->count; i++) {
    const cl_download *download = &batch->downloads[i];
    uint64_t key = store->layout == CL_URL ? 0 : hash_of(download->url);
    store->entries[i] = (entry){key, download};
  }
  sort(store, batch->count);
}

// MARK: Single writes

static MDB_val key_of(const cl_store *store, entry *entry) {
  if (store->layout == CL_URL) {
    return (MDB_val){entry->download->url.count, (void *)entry->download->url.bytes};
  }
  return (MDB_val){sizeof entry->key, &entry->key};
}

static state_key state_key_of(const cl_store *store, const entry *entry, uint8_t state) {
  return store->layout == CL_URL ? state_key_of_url(state, entry->download->url)
                                 : state_key_of_number(state, entry->key);
}

static int put_state(cl_store *store, state_key *key) {
  MDB_val entry = {key->count, key->bytes}, empty = {0, NULL};
  return mdb_cursor_put(store->writer.states, &entry, &empty, 0);
}

/// Reserves space for the record under its key, and packs it there.
static int put_record(cl_store *store, entry *entry, unsigned flags) {
  bool is_split = has_hot_table(store);
  hot_part hot = hot_part_of(entry->download);
  MDB_val key = key_of(store, entry);
  MDB_val value = {cold_size(entry->download) + (is_split ? 0 : sizeof hot), NULL};
  int code = mdb_cursor_put(store->writer.records, &key, &value, flags | MDB_RESERVE);
  if (code) return code;
  unsigned char *cold = value.mv_data;
  if (!is_split) {
    memcpy(cold, &hot, sizeof hot);
    cold += sizeof hot;
  }
  write_cold(entry->download, cold);
  if (!is_split) return 0;
  value = (MDB_val){sizeof hot, &hot};
  return mdb_cursor_put(store->writer.hot, &key, &value, flags);
}

// MARK: Adding

/// Appends the records; the commit writes the key table and the index.
static int append(cl_store *store, const cl_batch *batch) {
  store->new_keys = grown(store->new_keys, &store->new_key_capacity,
                          store->new_key_count + batch->count, sizeof *store->new_keys);
  store->new_states = grown(store->new_states, &store->new_state_capacity,
                            store->new_state_count + batch->count, sizeof *store->new_states);
  int code = 0;
  for (size_t i = 0; !code && i < batch->count; i++) {
    const cl_download *download = &batch->downloads[i];
    entry new = {++store->last_id, download};
    store->new_keys[store->new_key_count++] = (key_pair){hash_of(download->url), new.key};
    store->new_states[store->new_state_count++] = (uint64_t)download->state << 56 | new.key;
    code = put_record(store, &new, MDB_APPEND);
  }
  return code;
}

int cl_insert(cl_store *store, const cl_batch *batch) {
  if (has_ids(store)) return append(store, batch);
  int code = 0;
  sort_batch(store, batch);
  for (size_t i = 0; !code && i < batch->count; i++) {
    code = put_record(store, &store->entries[i], MDB_NOOVERWRITE);
  }
  qsort(store->entries, batch->count, sizeof *store->entries, by_state);
  for (size_t i = 0; !code && i < batch->count; i++) {
    state_key key =
        state_key_of(store, &store->entries[i], store->entries[i].download->state);
    code = put_state(store, &key);
  }
  return code;
}

/// Writes the key table and the index, both in the order of their keys.
static int write_new_keys(cl_store *store) {
  int code = 0;
  qsort(store->new_keys, store->new_key_count, sizeof *store->new_keys, by_number);
  for (size_t i = 0; !code && i < store->new_key_count; i++) {
    MDB_val key = {sizeof(uint64_t), &store->new_keys[i].hash};
    MDB_val value = {sizeof(uint64_t), &store->new_keys[i].id};
    code = mdb_cursor_put(store->writer.keys, &key, &value, MDB_NOOVERWRITE);
  }
  qsort(store->new_states, store->new_state_count, sizeof *store->new_states, by_number);
  for (size_t i = 0; !code && i < store->new_state_count; i++) {
    uint64_t number = store->new_states[i];
    state_key key = state_key_of_number((uint8_t)(number >> 56), number & UINT64_MAX >> 8);
    code = put_state(store, &key);
  }
  store->new_key_count = 0;
  store->new_state_count = 0;
  return code;
}

// MARK: Changing

/// Replaces the sorted hashes of the batch with sorted ids, in the layouts that have ids.
static int find_ids(cl_store *store, size_t count) {
  if (!has_ids(store)) return 0;
  for (size_t i = 0; i < count; i++) {
    MDB_val key = {sizeof(uint64_t), &store->entries[i].key}, id;
    int code = mdb_cursor_get(store->writer.keys, &key, &id, MDB_SET);
    if (code) return code;
    memcpy(&store->entries[i].key, id.mv_data, sizeof(uint64_t));
  }
  sort(store, count);
  return 0;
}

/// Finds the record of a URL by its key, and checks that it belongs to the URL.
static int find_record(cl_store *store, entry *entry, MDB_val *record) {
  MDB_val key = key_of(store, entry);
  int code = mdb_cursor_get(store->writer.records, &key, record, MDB_SET);
  if (code) return code;
  const char *cold = record->mv_data;
  if (!has_hot_table(store)) cold += sizeof(hot_part);
  return is_cold_of(cold, entry->download->url) ? 0 : CL_WRONG_RECORD;
}

static int move_state(cl_store *store, const entry *entry, uint8_t old) {
  if (old == entry->download->state) return 0;
  state_key before = state_key_of(store, entry, old);
  state_key after = state_key_of(store, entry, entry->download->state);
  MDB_val key = {before.count, before.bytes}, empty;
  int code = mdb_cursor_get(store->writer.states, &key, &empty, MDB_SET);
  if (!code) code = mdb_cursor_del(store->writer.states, 0);
  return code ? code : put_state(store, &after);
}

int cl_replace(cl_store *store, const cl_batch *batch) {
  sort_batch(store, batch);
  int code = find_ids(store, batch->count);
  for (size_t i = 0; !code && i < batch->count; i++) {
    entry *entry = &store->entries[i];
    MDB_val record;
    code = find_record(store, entry, &record);
    if (code) break;
    const char *cold = record.mv_data;
    if (!has_hot_table(store)) cold += sizeof(hot_part);
    code = move_state(store, entry, cold_state(cold));
    if (!code) code = put_record(store, entry, 0);
  }
  return code;
}

/// Overwrites the progress in the value under the cursor, which begins with the hot part.
static int put_progress(MDB_cursor *cursor, MDB_val *key, const MDB_val *old,
                        const cl_download *download) {
  unsigned char scratch[8192];
  if (old->mv_size > sizeof scratch) return MDB_BAD_VALSIZE;
  memcpy(scratch, old->mv_data, old->mv_size);
  memcpy(scratch + offsetof(hot_part, received), &download->received, sizeof(int64_t));
  memcpy(scratch + offsetof(hot_part, updated_at), &download->updated_at, sizeof(double));
  MDB_val value = {old->mv_size, scratch};
  return mdb_cursor_put(cursor, key, &value, MDB_CURRENT);
}

int cl_update_progress(cl_store *store, const cl_batch *batch) {
  sort_batch(store, batch);
  int code = find_ids(store, batch->count);
  for (size_t i = 0; !code && i < batch->count; i++) {
    entry *entry = &store->entries[i];
    MDB_cursor *cursor = store->writer.records;
    MDB_val key = key_of(store, entry), value;
    code = find_record(store, entry, &value);
    if (!code && has_hot_table(store)) {
      cursor = store->writer.hot;
      code = mdb_cursor_get(cursor, &key, &value, MDB_SET);
    }
    if (!code) code = put_progress(cursor, &key, &value, entry->download);
  }
  return code;
}

int cl_commit(cl_store *store) {
  int code = write_new_keys(store);
  MDB_txn *txn = store->writer.txn;
  // Cursors of a write transaction end with it.
  store->writer = (cursors){0};
  if (code) {
    mdb_txn_abort(txn);
    return code;
  }
  return mdb_txn_commit(txn);
}
