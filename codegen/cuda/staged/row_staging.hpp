// Copies a block's short rows between memory and shared memory, for CUDA: 16 bytes a thread whatever their length.
//
// Threads side by side read places one row apart. (1) Rows of an odd number of words meet all banks as they lie. (2)
// Rows of whole 16-byte chunks are read a chunk at a time; where four or more divide their number, chunk q lies at q ^
// (q >> skew & 7), where 2^skew is the power of two in the number and at least 8, for asynchronous copies are slow
// unless the chunks of 128 bytes stay together. (3) Other rows meet each bank two or three times. (4) Rows side by
// side, so few that a block holds all of them, are staged as the runs of memory that they form, and threads side by
// side read neighbours of a run.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/staged/staged_rows.hpp"

namespace ingot::codegen {

class row_staging {
public:
    row_staging(cuda_kernel& b, const row_program& rows, const staged_rows& choice)
        : b_(b), rows_(rows), choice_(choice) {}

    /// Declares the arrays, and the variables by which a row is found in them.
    void declare();
    void load();
    void store();

    /// The array in shared memory, and the variable of its chunks' skew.
    std::string array_of(const smem_tile& s) const { return "rows" + number_of(s); }
    static std::string skew_of(const smem_tile& s) { return "skew" + size_of(s); }
    std::string number_of(const smem_tile& s) const { return std::to_string(&s - choice_.tiles.all().data()); }
    /// The suffix of the variables of tiles of one element size.
    static std::string size_of(const smem_tile& s) { return std::to_string(s.bytes()); }
    /// The first tile of each element size, of all tiles or of the chunked ones.
    std::vector<const smem_tile*> of_each_size(bool chunked = false) const;

private:
    std::string u4() { return b_.needs.type(dtype::u4); }
    /// A block's first run begins behind a whole chunk; runs of a multiple of 64 bytes are a chunk apart, for threads
    /// side by side work on many runs at once.
    void declare_runs();
    /// The divisor by the chunks of a run.
    std::string chunks_of_run(const smem_tile& s);
    void copy_runs(const smem_tile& s, const std::string& name, const std::string& array, bool load);
    /// Adds a function by which a block walks over n elements, in chunks, and over those behind the last whole chunk.
    void add_walk(const smem_tile& s, const std::string& what, const std::string& chunk);
    /// Likewise over runs with a gap between them. A stored run begins within its first chunk.
    void add_run_walk(const std::string& name, const std::string& parameter, const std::string& chunk,
                      const std::string& element);

    cuda_kernel& b_;
    const row_program& rows_;
    const staged_rows& choice_;
};

}  // namespace ingot::codegen
