#include "store.h"

#include <string.h>

int cl_sum_received(cl_store *store, const cl_batch *urls, int64_t *sum) {
  int code = begin_reading(store);
  *sum = 0;
  for (size_t i = 0; !code && i < urls->count; i++) {
    uint64_t id;
    MDB_val record;
    const void *hot, *cold;
    code = find(store, &store->reader, urls->downloads[i].url, &id, &record);
    if (!code) code = parts_of(store, &store->reader, id, &record, &hot, &cold);
    if (code) break;
    int64_t received;
    memcpy(&received, (const char *)hot + offsetof(hot_part, received), sizeof received);
    *sum += received;
  }
  end_reading(store);
  return code;
}

static int read_out(cl_store *store, uint64_t id, const MDB_val *record, cl_digest *digest) {
  const void *hot, *cold;
  int code = parts_of(store, &store->reader, id, record, &hot, &cold);
  if (code) return code;
  cl_download download = copy_out(hot, cold);
  digest_add(digest, &download);
  cl_download_free(&download);
  return 0;
}

int cl_read_whole(cl_store *store, const cl_batch *urls, cl_digest *digest) {
  int code = begin_reading(store);
  *digest = (cl_digest){0};
  for (size_t i = 0; !code && i < urls->count; i++) {
    uint64_t id;
    MDB_val record;
    code = find(store, &store->reader, urls->downloads[i].url, &id, &record);
    if (!code) code = read_out(store, id, &record, digest);
  }
  end_reading(store);
  return code;
}

/// Finds the record of an index entry.
static int record_of_entry(cl_store *store, const MDB_val *entry, uint64_t *id, MDB_val *record) {
  const unsigned char *bytes = entry->mv_data;
  MDB_val key = {entry->mv_size - 1, (void *)(bytes + 1)};
  if (store->layout != CL_URL) {
    *id = 0;
    for (size_t i = 1; i < entry->mv_size; i++) *id = *id << 8 | bytes[i];
    key = (MDB_val){sizeof *id, id};
  }
  return mdb_cursor_get(store->reader.records, &key, record, MDB_SET);
}

int cl_read_state(cl_store *store, uint8_t state, cl_digest *digest) {
  int code = begin_reading(store);
  *digest = (cl_digest){0};
  if (code) return code;
  MDB_val entry = {sizeof state, &state}, empty;
  code = mdb_cursor_get(store->reader.states, &entry, &empty, MDB_SET_RANGE);
  while (!code && *(unsigned char *)entry.mv_data == state) {
    uint64_t id;
    MDB_val record;
    code = record_of_entry(store, &entry, &id, &record);
    if (!code) code = read_out(store, id, &record, digest);
    if (!code) code = mdb_cursor_get(store->reader.states, &entry, &empty, MDB_NEXT);
  }
  end_reading(store);
  return code == MDB_NOTFOUND ? 0 : code;
}

int cl_count_received_above(cl_store *store, int64_t bound, uint64_t *count) {
  int code = begin_reading(store);
  *count = 0;
  if (code) return code;
  MDB_cursor *cursor = has_hot_table(store) ? store->reader.hot : store->reader.records;
  MDB_val key, value;
  code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
  while (!code) {
    int64_t received;
    memcpy(&received, (const char *)value.mv_data + offsetof(hot_part, received), sizeof received);
    *count += received > bound;
    code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  end_reading(store);
  return code == MDB_NOTFOUND ? 0 : code;
}

int cl_get(cl_store *store, cl_text url, cl_download *download) {
  int code = begin_reading(store);
  uint64_t id;
  MDB_val record;
  const void *hot, *cold;
  if (!code) code = find(store, &store->reader, url, &id, &record);
  if (!code) code = parts_of(store, &store->reader, id, &record, &hot, &cold);
  if (!code) *download = copy_out(hot, cold);
  end_reading(store);
  return code;
}
