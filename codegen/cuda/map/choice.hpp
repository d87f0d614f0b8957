// How a map on CUDA goes over its elements, chosen from the operands and outputs before any text is printed. A layout
// is a struct of the numbers that its kernel is printed from, and a file with its choice, its description and its text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/cuda/map/stencil.hpp"

namespace ingot::codegen {

/// Threads of a block, but in stencils of three dimensions.
inline constexpr std::uint32_t map_threads = 256;

/// One value is added to few places: each block counts in shared memory, and adds its counts at its end.
struct counted_layout {
    std::uint32_t bins = 0;    // places at which a block counts
    std::uint32_t copies = 1;  // of a block's counts, which its warps share
    std::uint32_t each = 1;    // elements of a thread in a turn
    std::uint32_t vector = 1;  // consecutive ones, which the thread reads in one access

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// Squares of two axes; operands contiguous along the outer one go through shared memory.
struct tiled_layout {
    int side = -1;           // the axis along which the transposed operands are contiguous
    std::uint32_t tile = 0;  // the extent of a square along either axis

    std::uint32_t each() const { return tile * tile / map_threads; }
    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// A thread has consecutive elements of some rows one below the other: views of one buffer a few elements apart share
/// its loads from the buffer.
struct stencil_layout {
    stencil_axes axes{};
    window_size size{};
    std::vector<view_window> windows{};  // of this size
    std::uint32_t rows = 1;              // of a thread
    std::uint32_t turns = 1;  // of the loop over rows, unrolled: the rings' slots take turns, and nothing moves
    std::uint32_t threads = map_threads;
    std::uint32_t least_blocks = 0;  // for which a multiprocessor is to have registers; 0: no limit

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// A thread, or some lanes together, fold for all elements of a short inner axis, or for one.
struct joint_layout {
    loop_choice loops{};  // of the folds

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// A thread has consecutive elements of the inner axis and moves them in one access.
struct packed_layout {
    std::uint32_t each = 1;     // elements of a vector
    std::uint32_t vectors = 1;  // of a thread, a block apart
    bool drawn = false;         // whole vectors are drawn at a row's end too, and elements outside are not written
    loop_choice loops{};        // of folds that a thread makes itself

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// After a fold across memory: vectors of the run of memory that rows form, some rows apart.
struct flat_layout {
    int folded = -1;            // the axis that an earlier step folded
    std::uint32_t vectors = 1;  // of a thread

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// A thread's elements lie apart on the axis that an earlier step folded: its results are read once.
struct along_layout {
    int folded = -1;
    std::uint32_t each = 1;    // elements of a thread
    std::uint32_t stride = 1;  // the distance between them

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

/// The elements of a thread lie a block apart.
struct spread_layout {
    std::uint32_t each = 1;  // elements of a thread
    loop_choice loops{};     // of folds that a thread makes itself

    kernel_shape shape() const;
    std::string_view pattern() const { return "map"; }
    std::string reason() const;
    void write(cuda_kernel& b) const;
};

using map_choice = std::variant<counted_layout, tiled_layout, stencil_layout, joint_layout, packed_layout, flat_layout,
                                along_layout, spread_layout>;

map_choice choose_map(const cuda_kernel& b);
// Each is empty where its layout does not fit.
std::optional<counted_layout> choose_counted(const cuda_kernel& b);
std::optional<tiled_layout> choose_tiled(const cuda_kernel& b);
std::optional<stencil_layout> choose_stencil(const cuda_kernel& b);
std::optional<joint_layout> choose_joint(const cuda_kernel& b);
std::optional<packed_layout> choose_packed(const cuda_kernel& b);
std::optional<flat_layout> choose_flat(const cuda_kernel& b, int folded);
along_layout choose_along(const cuda_kernel& b, int folded);
spread_layout choose_spread(const cuda_kernel& b);

// The facts by which several layouts are chosen.

/// The elements of a thread, `most` or fewer: all their values fit its registers, and the compiler takes their
/// statements in reasonable time.
std::uint32_t elements_within(const cuda_kernel& b, std::uint32_t most);
/// Elements of a vector of 16 bytes: of the widest array, of those that `moves` selects. `outputs_too`: an output may
/// be the widest.
std::uint32_t elements_of_vector(const cuda_kernel& b, bool outputs_too,
                                 const std::function<bool(const array_argument&)>& moves);
/// Whether every array that moves along the inner axis is contiguous there and aligned.
bool can_pack(const cuda_kernel& b);
/// Lanes that fold together for a vector of results each turn of whose long loops reads values that these share; 1
/// where there are no such values, or results too few.
std::uint32_t lanes_of_vectors(const cuda_kernel& b);
/// How a thread with this many elements along an axis runs its loops.
loop_choice choose_loops(const cuda_kernel& b, int along, std::uint32_t elements);

}  // namespace ingot::codegen
