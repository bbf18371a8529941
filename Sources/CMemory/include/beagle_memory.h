// Memory for libcurl: a thread that asked for it keeps what is freed on it, for its next request.
//
// libcurl asks for memory a hundred times for each request, in a dozen sizes. Of a size the C library keeps a few blocks
// for a thread, so that with more requests in flight most of them go the long way, through its heap.
//
// Every block is one of `malloc`: other threads, `free` itself and libraries that take memory over may have it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// From now on, to `beagle_free_blocks`, this thread keeps what is freed on it: 8 MiB at most, and nothing larger than
/// 17 KiB. False where it keeps nothing: where memory is short, under the compiler's sanitizers, which are to see each
/// block freed, and with another C library than glibc.
bool beagle_keep_blocks(void);
/// Frees what this thread keeps but for `beagle_idle_bytes`, the largest first: for when it has nothing to do.
void beagle_thin_blocks(void);
/// Frees what this thread keeps. It keeps no more.
void beagle_free_blocks(void);
/// What a thread may well keep while it has nothing to do.
enum { beagle_idle_bytes = 1 << 20 };
/// Bytes that this thread keeps.
size_t beagle_kept_bytes(void);

// What `curl_global_init_mem` is given. As with glibc, a block that is freed twice, or written to when it was freed, mostly
// ends the process.

void *beagle_malloc(size_t size);
void beagle_free(void *block);
void *beagle_realloc(void *block, size_t size);
void *beagle_calloc(size_t count, size_t size);
char *beagle_strdup(const char *text);
