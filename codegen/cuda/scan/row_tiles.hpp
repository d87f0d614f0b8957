// What the schedules of scans along memory on CUDA share: a thread's elements of a tile, which are on their way before
// anything is computed, in registers (x0[u][e]) and in shared memory (x0_staged), and the way of its results back.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

class row_tiles : protected cuda_scan {
public:
    row_tiles(cuda_kernel& b, const scanning& s, const scan_choice& c);

protected:
    std::string rows() { return b_.count(points_of(kept_bits()), "rows"); }
    /// What of a warp's elements of a tile lies between two chunks of a thread.
    std::uint32_t chunk_stride() const { return std::min(lanes_, 32u) * each_; }
    /// `at`: where chunk u of this thread, of those in registers or of those staged, lies in its row, or its element e;
    /// and the digit.
    void write_position(bool staged, const std::string& further = "");
    std::string staged_chunk(const array_argument& in) const;

    void load_tile();
    /// Random numbers of chunk u, to[e].
    void draw_random_chunk(node_id g, const std::string& to, bool staged);

    /// Results of a chunk, r0[e], and their way to the row: as vectors where it has all of them.
    void declare_results();
    void store_chunk(bool staged);
    /// Of element e, or of a chunk that has one.
    void store_elements(bool staged, const std::vector<std::string>& values);

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
