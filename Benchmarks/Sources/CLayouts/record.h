#ifndef CLAYOUTS_RECORD_H
#define CLAYOUTS_RECORD_H

#include "include/CLayouts.h"

/// What a checkpoint changes, and the scalars that are filtered on.
typedef struct {
  int64_t received, expected;
  double updated_at;
  int32_t priority;
  uint32_t reserved;
} hot_part;

/// The start of what seldom changes; the texts follow, then each tag with its 16-bit length.
typedef struct {
  double created_at, completed_at;
  int32_t failed_attempts;
  uint8_t state;
  /// Which of the optional texts are there.
  uint8_t has_entity_tag : 1, has_resume_blob : 1;
  uint16_t tag_count;
  uint32_t url, name, destination, type, entity_tag, resume_blob;
} cold_head;

hot_part hot_part_of(const cl_download *download);
size_t cold_size(const cl_download *download);
void write_cold(const cl_download *download, unsigned char *bytes);

/// Whether the cold part is that of the URL.
bool is_cold_of(const void *cold, cl_text url);
uint8_t cold_state(const void *cold);

/// Makes a download whose texts are its own: each on the heap, as the fields of a value that
/// outlives the transaction are in other languages too.
cl_download copy_out(const void *hot, const void *cold);
void digest_add(cl_digest *digest, const cl_download *download);

#endif
