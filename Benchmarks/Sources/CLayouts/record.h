#ifndef CLAYOUTS_RECORD_H
#define CLAYOUTS_RECORD_H

#include "include/CLayouts.h"

/// The hot part: the scalars that a checkpoint changes or a query filters on.
typedef struct {
  int64_t received, expected;
  double updated_at;
  int32_t priority;
  uint32_t reserved;
} hot_part;

/// The head of the cold part, which seldom changes; the strings follow, then each tag with its
/// 16-bit length.
typedef struct {
  double created_at, completed_at;
  int32_t failed_attempts;
  uint8_t state;
  /// A bit for each optional string that is present.
  uint8_t has_entity_tag : 1, has_resume_blob : 1;
  uint16_t tag_count;
  uint32_t url, name, destination, type, entity_tag, resume_blob;
} cold_head;

hot_part hot_part_of(const cl_download *download);
size_t cold_size(const cl_download *download);
void write_cold(const cl_download *download, unsigned char *bytes);

/// Whether the cold part belongs to the URL.
bool is_cold_of(const void *cold, cl_text url);
uint8_t cold_state(const void *cold);

/// Creates a download that owns its strings: each is copied to the heap, as other languages do for
/// a value that outlives the transaction.
cl_download copy_out(const void *hot, const void *cold);
void digest_add(cl_digest *digest, const cl_download *download);

#endif
