#include "record.h"

#include <stdlib.h>
#include <string.h>

// MARK: Writing

hot_part hot_part_of(const cl_download *download) {
  return (hot_part){
      .received = download->received,
      .expected = download->expected,
      .updated_at = download->updated_at,
      .priority = download->priority,
  };
}

size_t cold_size(const cl_download *d) {
  size_t size = sizeof(cold_head) + d->url.count + d->name.count + d->destination.count +
                d->type.count + d->entity_tag.count + d->resume_blob.count;
  for (size_t i = 0; i < d->tag_count; i++) size += sizeof(uint16_t) + d->tags[i].count;
  return size;
}

static unsigned char *put_text(unsigned char *end, cl_text text) {
  if (text.count > 0) memcpy(end, text.bytes, text.count);
  return end + text.count;
}

void write_cold(const cl_download *d, unsigned char *bytes) {
  cold_head head = {
      .created_at = d->created_at,
      .completed_at = d->completed_at,
      .failed_attempts = d->failed_attempts,
      .state = d->state,
      .has_entity_tag = d->entity_tag.bytes != NULL,
      .has_resume_blob = d->resume_blob.bytes != NULL,
      .tag_count = (uint16_t)d->tag_count,
      .url = (uint32_t)d->url.count,
      .name = (uint32_t)d->name.count,
      .destination = (uint32_t)d->destination.count,
      .type = (uint32_t)d->type.count,
      .entity_tag = (uint32_t)d->entity_tag.count,
      .resume_blob = (uint32_t)d->resume_blob.count,
  };
  memcpy(bytes, &head, sizeof head);
  unsigned char *end = bytes + sizeof head;
  end = put_text(end, d->url);
  end = put_text(end, d->name);
  end = put_text(end, d->destination);
  end = put_text(end, d->type);
  end = put_text(end, d->entity_tag);
  end = put_text(end, d->resume_blob);
  for (size_t i = 0; i < d->tag_count; i++) {
    uint16_t count = (uint16_t)d->tags[i].count;
    memcpy(end, &count, sizeof count);
    end = put_text(end + sizeof count, d->tags[i]);
  }
}

// MARK: Reading

bool is_cold_of(const void *cold, cl_text url) {
  cold_head head;
  memcpy(&head, cold, sizeof head);
  return head.url == url.count &&
         memcmp((const char *)cold + sizeof head, url.bytes, url.count) == 0;
}

uint8_t cold_state(const void *cold) {
  return ((const unsigned char *)cold)[offsetof(cold_head, state)];
}

static cl_text take_text(const char **bytes, size_t count) {
  char *copy = malloc(count + 1);
  if (!copy) abort();
  memcpy(copy, *bytes, count);
  copy[count] = 0;
  *bytes += count;
  return (cl_text){copy, count};
}

cl_download copy_out(const void *hot_bytes, const void *cold) {
  hot_part hot;
  cold_head head;
  memcpy(&hot, hot_bytes, sizeof hot);
  memcpy(&head, cold, sizeof head);
  const char *bytes = (const char *)cold + sizeof head;
  cl_download download = {
      .created_at = head.created_at,
      .completed_at = head.completed_at,
      .updated_at = hot.updated_at,
      .received = hot.received,
      .expected = hot.expected,
      .priority = hot.priority,
      .failed_attempts = head.failed_attempts,
      .state = head.state,
  };
  download.url = take_text(&bytes, head.url);
  download.name = take_text(&bytes, head.name);
  download.destination = take_text(&bytes, head.destination);
  download.type = take_text(&bytes, head.type);
  if (head.has_entity_tag) download.entity_tag = take_text(&bytes, head.entity_tag);
  if (head.has_resume_blob) download.resume_blob = take_text(&bytes, head.resume_blob);
  if (head.tag_count > 0) {
    cl_text *tags = malloc(head.tag_count * sizeof *tags);
    if (!tags) abort();
    for (size_t i = 0; i < head.tag_count; i++) {
      uint16_t count;
      memcpy(&count, bytes, sizeof count);
      bytes += sizeof count;
      tags[i] = take_text(&bytes, count);
    }
    download.tags = tags;
    download.tag_count = head.tag_count;
  }
  return download;
}

void cl_download_free(cl_download *d) {
  free((void *)d->url.bytes);
  free((void *)d->name.bytes);
  free((void *)d->destination.bytes);
  free((void *)d->type.bytes);
  free((void *)d->entity_tag.bytes);
  free((void *)d->resume_blob.bytes);
  for (size_t i = 0; i < d->tag_count; i++) free((void *)d->tags[i].bytes);
  free((void *)d->tags);
}

void digest_add(cl_digest *digest, const cl_download *d) {
  digest->count += 1;
  digest->received += d->received;
  digest->bytes += d->url.count + d->name.count + d->destination.count + d->type.count +
                   d->entity_tag.count + d->resume_blob.count;
  for (size_t i = 0; i < d->tag_count; i++) digest->bytes += d->tags[i].count;
}
