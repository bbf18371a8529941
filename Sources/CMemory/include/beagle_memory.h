// An allocator for libcurl that lets a thread keep freed blocks for its next requests.
//
// libcurl allocates about a hundred blocks per request, in a dozen sizes. The C library caches only a few blocks of
// each size per thread, so with more requests in flight most allocations take the slow path through its heap.
//
// Every block comes from `malloc`, so other threads, `free` itself and libraries that take ownership of a block can
// handle it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Makes this thread keep the blocks that are freed on it, until `beagle_free_blocks`: up to 8 MiB, and only blocks up
/// to 17 KiB. Returns false if it keeps no blocks: if memory is short, with the compiler's sanitizers (which must see
/// each block freed), or with a C library other than glibc.
bool beagle_keep_blocks(void);
/// Frees this thread's kept blocks, largest first, down to `beagle_idle_bytes`. Call it when the thread is idle.
void beagle_thin_blocks(void);
/// Frees all kept blocks of this thread and stops keeping blocks.
void beagle_free_blocks(void);
/// The number of bytes that an idle thread may keep.
enum { beagle_idle_bytes = 1 << 20 };
/// Returns the number of bytes that this thread keeps.
size_t beagle_kept_bytes(void);

// The functions for `curl_global_init_mem`. As with glibc, a double free or a write to a freed block usually ends the
// process.

void *beagle_malloc(size_t size);
void beagle_free(void *block);
void *beagle_realloc(void *block, size_t size);
void *beagle_calloc(size_t count, size_t size);
char *beagle_strdup(const char *text);
