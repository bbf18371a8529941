#pragma once
#include <stdint.h>

/// Blocks allocated since the process began, by every thread.
uint64_t allocation_count(void);
