// The tile of a row that CUDA's scans along memory share. A thread's elements are loaded before anything is computed,
// into registers (x0[u][e]) and shared memory (x0_staged); its results are stored from registers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

/// Elements of a chunk: those of a vector, if the compiler takes their statements.
std::uint32_t elements_of_row_chunk(const cuda_kernel& b, const scanning& s);
/// Chunks that a thread has in registers where none is staged; no more than hold `longest` elements.
std::uint32_t chunks_in_registers(const cuda_kernel& b, const scanning& s, std::uint32_t each, std::uint64_t longest);

class row_tiles : protected cuda_scan {
public:
    row_tiles(cuda_kernel& b, const scanning& s, const row_tile& c, bool pairs, std::uint32_t shared_chunks = 0,
              std::uint32_t run = 0);

protected:
    std::string rows() { return b_.count(points_of(kept_bits()), "rows"); }
    /// The distance of a thread's neighbouring chunks, in elements: a warp's chunks.
    std::uint32_t chunk_stride() const { return std::min(lanes_, 32u) * each_; }
    /// Writes `at`, the place in its row of this thread's chunk u, of those in registers or of the staged ones, or of
    /// its element e; and the digit.
    void write_position(bool staged, const std::string& further = "");
    std::string staged_chunk(const array_argument& in) const;

    void load_tile();
    /// Random numbers of chunk u, to[e].
    void draw_random_chunk(node_id g, const std::string& to, bool staged);

    /// A chunk's results, r0[e], and their stores: vectors where all of the chunk is in the row.
    void declare_results();
    void store_chunk(bool staged);
    /// Stores element e, or a chunk of one element.
    void store_elements(bool staged, const std::vector<std::string>& values);

    const row_tile& tile_;
    const bool pairs_;
    const std::uint32_t lanes_, register_chunks_, shared_chunks_;

private:
    void load_chunks(bool staged);
    void load_chunk(bool staged);
    void load_elements(bool staged);
    void draw_random(node_id g);
    /// "active && ", where this thread may have no row of its own.
    std::string active();
};

}  // namespace ingot::codegen
