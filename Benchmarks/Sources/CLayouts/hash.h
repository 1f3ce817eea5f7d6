#ifndef CLAYOUTS_HASH_H
#define CLAYOUTS_HASH_H

#include "include/CLayouts.h"

/// XXH64 with seed 0.
uint64_t hash_of(cl_text text);

#endif
