#ifndef CLAYOUTS_BATCH_H
#define CLAYOUTS_BATCH_H

#include "include/CLayouts.h"

struct cl_batch {
  cl_download *downloads;
  size_t count, capacity;
  /// Strings, in blocks that never move.
  struct block *blocks;
};

#endif
