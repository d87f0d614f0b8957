// How threads share the rows that registers hold (register_rows.hpp): each function is one layout, takes the first of
// its measured shapes that holds the longest row of the class, and says whether there is one.
#pragma once

#include <cstdint>

#include "codegen/cuda/row/register_rows.hpp"

namespace ingot::codegen {

/// What has to be held, and by what.
struct row_limits {
    std::uint32_t capacity;  // elements of the longest row
    std::uint32_t bytes;     // held of an element, at least a word
    std::uint32_t elements;  // that the statements of one thread may hold
    std::uint32_t architecture;
    std::uint32_t largest_cluster;
};

/// How rows across memory lie there.
struct rows_in_memory {
    std::uint32_t widest = 1;  // item, in bytes
    bool aligned = true;       // to vectors
    bool few = false;          // nothing else lies side by side: caches have all of them
    bool sectors = false;      // long columns of words; what lies side by side is whole sectors
};

/// Blocks of a cluster; more than are portable where the GPUs of an architecture are known to have room for them.
std::uint32_t largest_cluster_of(std::uint32_t architecture);
/// Whether that is more than any GPU has room for.
bool has_large_clusters(std::uint32_t architecture);

bool share_along(register_rows& s, const row_limits& of, bool writes_rows);
bool share_with_memory(register_rows& s, const row_limits& of);
bool share_across(register_rows& s, const row_program& r, const row_limits& of, const rows_in_memory& at, bool defers);
bool share_runs(register_rows& s, const row_limits& of, std::uint32_t columns, bool reads_words);

}  // namespace ingot::codegen
