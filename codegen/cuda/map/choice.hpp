// How a map on CUDA goes over its elements, chosen from the operands and outputs before any text is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/cuda/kernel.hpp"

namespace ingot::codegen {

struct map_choice {
    enum class layout : std::uint8_t {
        packed,   // a thread has consecutive elements of the inner axis and moves them in one access
        flat,     // after a fold across memory: vectors of the run of memory that rows form, some rows apart
        along,    // a thread's elements lie apart on the axis that an earlier step folded: results are read once
        stencil,  // consecutive elements, some rows one below the other: views of one buffer a few elements apart share
                  // a thread's loads from it
        tiled,    // squares of two axes; operands contiguous along the outer one go through shared memory
        joint,    // a thread, or some lanes together, fold for all elements of a short inner axis, or for one
        spread,   // elements of a thread lie a block apart
        counted,  // one value is added to few places: each block counts in shared memory, and adds its counts at
                  // its end
    };
    static constexpr std::uint32_t threads = 256;

    layout how = layout::spread;
    std::uint32_t block_threads = threads;
    std::uint32_t least_blocks = 0;    // for which a multiprocessor is to have registers; 0: no limit
    std::uint32_t each = 1;            // elements of a thread; flat: of a vector
    std::uint32_t chunks = 1;          // packed, flat: vectors of a thread; stencil: rows of a thread down `along`
    std::uint32_t element_stride = 1;  // along: the distance between a thread's elements
    int along = -1;            // the axis that earlier steps folded, or -1; stencil: the axis down which a thread rolls
    int side = -1;             // tiled: the axis along which the transposed operands are contiguous; stencil: the third
                               // dimension
    std::uint32_t aside = 1;   // stencil: places of a thread on `side`
    std::uint32_t ahead = 0;   // stencil: rows in flight while one is computed
    bool pairs = false;        // stencil: of bytes, two of which are computed at once in a word
    std::uint32_t tile = 0;    // tiled: the extent of a square along either axis
    std::uint32_t vector = 1;  // counted: consecutive elements that a thread reads in one access
    std::uint32_t bins = 0;    // counted: at which a block counts
    loop_choice loops{};       // of folds that a thread makes itself
    bool drawn = false;        // packed: whole vectors are drawn at a row's end too, and elements outside not written
    std::uint32_t copies = 1;  // counted: copies of a block's counts, which its warps share

    kernel_shape shape() const;
    std::string reason() const;
};

map_choice choose_map(const cuda_kernel& b);
/// (1) choose_loops: how a thread with this many elements along an axis runs its loops. (2) choose_joint: how threads
/// share the folds of a short inner axis or the turns of long loops; empty where there is nothing to share.
loop_choice choose_loops(const cuda_kernel& b, int along, std::uint32_t elements);
std::optional<loop_choice> choose_joint(const cuda_kernel& b);

/// Assembles the source and the step, once the kernel's body is written.
void finish_map(cuda_kernel& b, const map_choice& c, plan& p);
/// A thread's elements by vectors of the run of memory that the rows beneath the same results form.
void emit_flat_map_cuda(cuda_kernel& b, const map_choice& c, plan& p);
/// Rows of views of one buffer, each read once.
void emit_stencil_map_cuda(cuda_kernel& b, const map_choice& c, plan& p);
/// A thread's own folds, shared by the elements of a short axis or by lanes.
void emit_joint_map_cuda(cuda_kernel& b, const map_choice& c, plan& p);
/// Squares of two axes; transposed operands are read along the other axis into shared memory.
void emit_tiled_map_cuda(cuda_kernel& b, const map_choice& c, plan& p);

}  // namespace ingot::codegen
