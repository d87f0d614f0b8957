// How threads share the rows that registers hold (register_rows.hpp): each function is one layout, takes the first of
// its measured shapes that holds the longest row of the class, and returns whether there is one.
#pragma once

#include <cstdint>

#include "codegen/cuda/row/register_rows.hpp"

namespace ingot::codegen {

/// The rows to hold, and the limits of the hardware.
struct row_limits {
    std::uint32_t capacity;  // elements of the longest row
    std::uint32_t bytes;     // held of an element; at least a word
    std::uint32_t elements;  // of one thread, at most, by the size of its statements
    std::uint32_t architecture;
    std::uint32_t largest_cluster;
};

/// How rows across memory lie there.
struct rows_in_memory {
    std::uint32_t widest = 1;  // item, in bytes
    bool aligned = true;       // to vectors
    bool few = false;          // nothing else lies side by side: caches hold all of them
    bool sectors = false;      // long columns of words, of which whole sectors lie side by side
};

/// Blocks of a cluster; more than the portable number where an architecture's GPUs are known to have room for them.
std::uint32_t largest_cluster_of(std::uint32_t architecture);
/// Whether an architecture has clusters larger than the portable number.
bool has_large_clusters(std::uint32_t architecture);

bool share_along(register_rows& s, const row_limits& of, bool writes_rows);
bool share_with_memory(register_rows& s, const row_limits& of);
bool share_across(register_rows& s, const row_program& r, const row_limits& of, const rows_in_memory& at, bool defers);
bool share_runs(register_rows& s, const row_limits& of, std::uint32_t columns, bool reads_words);

}  // namespace ingot::codegen
