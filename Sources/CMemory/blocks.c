#include "beagle_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(hwaddress_sanitizer) || __has_feature(memory_sanitizer) \
    || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif
#if defined(__GLIBC__) && !defined(IS_SANITIZED)
#define KEEPS_BLOCKS
#include <malloc.h>
#endif

#ifdef KEEPS_BLOCKS

enum {
    unit = 16,
    smallest_shelf = 4 * sizeof(size_t) / unit, // the smallest block size of glibc
    shelf_count = (17 << 10) / unit,
    max_bytes = 8 << 20,
    idle_blocks = 16, // of each size kept when idle, if their total is small enough
};

/// The header of a kept block.
struct kept {
    uintptr_t next;
    uintptr_t mark;
};

struct store {
    size_t bytes;
    /// Lists of blocks by size, in units. The block freed last is first, because it is most likely in the CPU caches.
    struct kept *shelves[shelf_count];
};

static _Thread_local struct store *store;

/// Returns the shelf whose blocks all have room for this size; glibc uses one extra word per block.
static size_t shelf_for(size_t size) {
    size_t index = (size + sizeof(size_t) + unit - 1) / unit;
    return index < smallest_shelf ? smallest_shelf : index;
}

/// Returns the shelf that a block belongs to.
static size_t shelf_of(void *block) {
    return (malloc_usable_size(block) + sizeof(size_t)) / unit;
}

/// Encodes or decodes a link, so that code that writes into a freed block can't choose the block that is returned next.
static uintptr_t masked(uintptr_t link, const struct kept *block) {
    return link ^ ((uintptr_t)block >> 12);
}

static void die(const char *reason) {
    fprintf(stderr, "BeagleNet: memory of libcurl is corrupt: %s\n", reason);
    abort();
}

/// Returns the block after a kept block in its list, and checks that the kept block wasn't modified.
static struct kept *next_of(const struct kept *block) {
    uintptr_t next = masked(block->next, block);
    if (block->mark != (uintptr_t)store || next % (2 * sizeof(size_t))) die("a block was written to after it was freed");
    return (struct kept *)next;
}

/// Removes and returns a kept block with room for this size, or NULL if no such block is kept.
static void *take(size_t size) {
    struct store *mine = store;
    if (!mine || size > (shelf_count - 2) * unit) return NULL;
    size_t index = shelf_for(size);
    struct kept *block = mine->shelves[index];
    if (!block) return NULL;
    mine->shelves[index] = next_of(block);
    mine->bytes -= index * unit;
    block->mark = 0;
    return block;
}

/// Keeps a freed block. Returns false if the block must be freed instead.
static bool keep(void *freed) {
    struct store *mine = store;
    if (!mine) return false;
    size_t index = shelf_of(freed);
    if (index < smallest_shelf || index >= shelf_count || mine->bytes + index * unit > max_bytes) return false;
    struct kept *block = freed, *first = mine->shelves[index];
    if (block->mark == (uintptr_t)mine) {
        for (struct kept *other = first; other; other = next_of(other)) {
            if (other == block) die("a block was freed twice");
        }
    }
    block->mark = (uintptr_t)mine;
    block->next = masked((uintptr_t)first, block);
    mine->shelves[index] = block;
    mine->bytes += index * unit;
    return true;
}

bool beagle_keep_blocks(void) {
    if (!store) store = calloc(1, sizeof *store);
    return store;
}

/// Frees the blocks of a shelf except for the first few.
static void thin(struct store *mine, size_t index, size_t rest) {
    struct kept *block = mine->shelves[index], *last = NULL;
    for (; block && rest > 0; rest--) {
        last = block;
        block = next_of(block);
    }
    if (last) {
        last->next = masked(0, last);
    } else {
        mine->shelves[index] = NULL;
    }
    while (block) {
        struct kept *next = next_of(block);
        block->mark = 0;
        free(block);
        mine->bytes -= index * unit;
        block = next;
    }
}

/// Frees blocks, largest sizes first, until at most this many bytes, or a few blocks of each size, are left.
static void thin_all(struct store *mine, size_t bytes, size_t rest) {
    for (size_t index = shelf_count; mine->bytes > bytes && index-- > smallest_shelf;) thin(mine, index, rest);
}

void beagle_thin_blocks(void) {
    if (!store) return;
    thin_all(store, beagle_idle_bytes, idle_blocks);
    thin_all(store, beagle_idle_bytes, 0);
}

void beagle_free_blocks(void) {
    if (!store) return;
    thin_all(store, 0, 0);
    free(store);
    store = NULL;
}

size_t beagle_kept_bytes(void) {
    return store ? store->bytes : 0;
}

#else

static void *take(size_t size) {
    (void)size;
    return NULL;
}

static bool keep(void *freed) {
    (void)freed;
    return false;
}

bool beagle_keep_blocks(void) {
    return false;
}

void beagle_thin_blocks(void) {}
void beagle_free_blocks(void) {}

size_t beagle_kept_bytes(void) {
    return 0;
}

#endif

void *beagle_malloc(size_t size) {
    void *block = take(size);
    return block ? block : malloc(size);
}

/// A separate function, so that a call with NULL (four in five of libcurl's calls) costs almost nothing.
static __attribute__((noinline)) void let_go(void *block) {
    if (!keep(block)) free(block);
}

void beagle_free(void *block) {
    if (block) let_go(block);
}

void *beagle_realloc(void *block, size_t size) {
#ifdef KEEPS_BLOCKS
    if (block && size > 0) {
        size_t room = malloc_usable_size(block);
        if (size <= room && size >= room / 2) return block;
        void *moved = take(size);
        if (moved) {
            memcpy(moved, block, size < room ? size : room);
            beagle_free(block);
            return moved;
        }
    }
#endif
    return block ? realloc(block, size) : beagle_malloc(size);
}

void *beagle_calloc(size_t count, size_t size) {
    void *block = size == 0 || count <= SIZE_MAX / size ? take(count * size) : NULL;
    return block ? memset(block, 0, count * size) : calloc(count, size);
}

char *beagle_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = beagle_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
