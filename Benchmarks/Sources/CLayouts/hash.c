#include "hash.h"

#include <string.h>

static const uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F,
                      prime3 = 0x165667B19E3779F9, prime4 = 0x85EBCA77C2B2AE63,
                      prime5 = 0x27D4EB2F165667C5;

static uint64_t rotate(uint64_t value, int count) {
  return value << count | value >> (64 - count);
}

static uint64_t word(const char *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static uint64_t mix(uint64_t lane, uint64_t input) {
  return rotate(lane + input * prime2, 31) * prime1;
}

static uint64_t merge(uint64_t hash, uint64_t lane) {
  return (hash ^ mix(0, lane)) * prime1 + prime4;
}

uint64_t hash_of(cl_text text) {
  const char *bytes = text.bytes, *end = bytes + text.count;
  uint64_t hash = prime5;
  if (text.count >= 32) {
    uint64_t a = prime1 + prime2, b = prime2, c = 0, d = -prime1;
    for (; end - bytes >= 32; bytes += 32) {
      a = mix(a, word(bytes));
      b = mix(b, word(bytes + 8));
      c = mix(c, word(bytes + 16));
      d = mix(d, word(bytes + 24));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += text.count;
  for (; end - bytes >= 8; bytes += 8) {
    hash = rotate(hash ^ mix(0, word(bytes)), 27) * prime1 + prime4;
  }
  if (end - bytes >= 4) {
    uint32_t half;
    memcpy(&half, bytes, sizeof half);
    hash = rotate(hash ^ half * prime1, 23) * prime2 + prime3;
    bytes += 4;
  }
  for (; bytes < end; bytes++) {
    hash = rotate(hash ^ (unsigned char)*bytes * prime5, 11) * prime1;
  }
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}
