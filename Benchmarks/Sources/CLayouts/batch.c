#include "batch.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)1 << 20)

struct block {
  struct block *next;
  size_t used, size;
  char bytes[];
};

cl_batch *cl_batch_make(void) {
  cl_batch *batch = calloc(1, sizeof *batch);
  if (!batch) abort();
  return batch;
}

void cl_batch_free(cl_batch *batch) {
  while (batch->blocks) {
    struct block *next = batch->blocks->next;
    free(batch->blocks);
    batch->blocks = next;
  }
  free(batch->downloads);
  free(batch);
}

static void *room(cl_batch *batch, size_t count) {
  count = (count + 15) & ~(size_t)15;
  struct block *block = batch->blocks;
  if (!block || block->size - block->used < count) {
    size_t size = count > BLOCK_SIZE ? count : BLOCK_SIZE;
    block = malloc(sizeof *block + size);
    if (!block) abort();
    *block = (struct block){.next = batch->blocks, .size = size};
    batch->blocks = block;
  }
  void *bytes = block->bytes + block->used;
  block->used += count;
  return bytes;
}

static cl_text keep(cl_batch *batch, cl_text text) {
  if (!text.bytes) return text;
  char *bytes = room(batch, text.count);
  memcpy(bytes, text.bytes, text.count);
  return (cl_text){bytes, text.count};
}

void cl_batch_add(cl_batch *batch, const cl_download *download) {
  if (batch->count == batch->capacity) {
    batch->capacity = batch->capacity ? batch->capacity * 2 : 1024;
    batch->downloads = realloc(batch->downloads, batch->capacity * sizeof *batch->downloads);
    if (!batch->downloads) abort();
  }
  cl_download kept = *download;
  kept.url = keep(batch, kept.url);
  kept.name = keep(batch, kept.name);
  kept.destination = keep(batch, kept.destination);
  kept.type = keep(batch, kept.type);
  kept.entity_tag = keep(batch, kept.entity_tag);
  kept.resume_blob = keep(batch, kept.resume_blob);
  cl_text *tags = room(batch, kept.tag_count * sizeof *tags);
  for (size_t i = 0; i < kept.tag_count; i++) tags[i] = keep(batch, download->tags[i]);
  kept.tags = tags;
  batch->downloads[batch->count++] = kept;
}
