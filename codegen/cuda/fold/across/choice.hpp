// How a fold across memory on CUDA shares its columns between blocks and threads, chosen from the operands, folds and
// outputs before any text is printed. Neighbouring threads fold neighbouring columns, so that they read whole lines of
// memory; the layouts differ in how the rest of a block is arranged. A layout is a struct of the numbers that its
// kernel is printed from, and a file with its choice, its description and its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/cuda/fold/choice.hpp"
#include "codegen/cuda/fold/folded_kernel.hpp"
#include "codegen/plan/kernel_shape.hpp"

namespace ingot::codegen {

struct column_layout : fold_choice {
    std::string_view pattern() const { return split ? "split column reduction" : "column reduction"; }
    /// `unless_split`: how threads join a column's parts where one block has the column.
    kernel_shape shape_of(std::string_view name, std::uint32_t chunks, thread_exchange unless_split) const;
    /// The reason for columns that are read where they lie, by these threads.
    std::string where_they_lie(const std::string& threads_of_columns, bool tiles_ahead = false) const;
    /// The part of a reason about tiles on their way and about several blocks a column.
    std::string ahead_and_shared(bool tiles_ahead) const;
};

/// A thread folds neighbouring columns from where they lie.
struct direct_columns_layout : column_layout {
    std::vector<std::uint32_t> unroll;  // of each space: elements of a column that a thread loads at once

    std::uint32_t chunks() const;
};

/// Threads beside each other over all kept axes as one; no two share a column.
struct alone_columns_layout : direct_columns_layout {
    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// Threads beside each other over all kept axes as one, and rows of threads below them.
struct wide_columns_layout : direct_columns_layout {
    static constexpr std::uint32_t most_across = 64;  // threads beside each other
    std::uint32_t least_across = 64;                  // where blocks share columns: the threads that read a memory line

    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// Threads beside each other over the short innermost kept axis, and rows of threads below them.
struct narrow_columns_layout : direct_columns_layout {
    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// As narrow ones, for columns so short that several such groups are a block.
struct packed_columns_layout : direct_columns_layout {
    std::uint32_t height = 0;  // rows of threads of a group

    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// By vectors of the run of memory that all columns form; in the end a thread has one column.
struct contiguous_columns_layout : column_layout {
    static constexpr std::uint32_t least_vectors = 8;  // of a thread, about, where a block has several outer places
    std::uint32_t unroll = 1;                          // vectors that a thread loads at once
    bool tiles_ahead = false;                          // a tile is loaded while the one before it is joined
    bool even_steps = false;  // a thread's vectors lie whole sectors apart where that costs little

    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// A block has neighbouring columns of one row of memory, wherever the rows begin.
struct column_strips_layout : column_layout {
    std::uint32_t unroll = 1;       // vectors that a thread loads at once
    bool tiles_ahead = false;       // a tile is loaded while the one before it is joined
    bool aligned = true;            // rows begin at whole vectors
    std::uint32_t most_across = 1;  // vectors of a strip

    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// A thread loads all of some short columns before it folds the first.
struct unrolled_columns_layout : column_layout {
    std::uint32_t length = 1;   // of the longest column
    std::uint32_t vectors = 1;  // of a thread, a block's threads apart from each other

    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// Columns of a few places of the outer axes form a run, copied into shared memory.
struct staged_columns_layout : column_layout {
    static constexpr std::uint32_t unroll = 2;  // elements of a column that a thread loads at once
    std::uint32_t elements = 0;                 // of the run that a block copies; one outer place may have more
    std::uint32_t capacity = 0;                 // elements, with those ahead of the run in its first vector
    bool moments = false;                       // a thread sums differences from the mean of its first few elements

    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

using column_fold_choice =
    std::variant<alone_columns_layout, wide_columns_layout, narrow_columns_layout, packed_columns_layout,
                 contiguous_columns_layout, column_strips_layout, unrolled_columns_layout, staged_columns_layout>;

column_fold_choice choose_column_fold(const folded_kernel& f);
// Each is empty where its layout does not fit; columns can always be read where they lie.
std::optional<staged_columns_layout> choose_staged_columns(const folded_kernel& f);
std::optional<unrolled_columns_layout> choose_unrolled_columns(const folded_kernel& f);
std::optional<column_strips_layout> choose_column_strips(const folded_kernel& f);
std::optional<contiguous_columns_layout> choose_contiguous_columns(const folded_kernel& f);
column_fold_choice choose_direct_columns(const folded_kernel& f);

// The facts by which several layouts are chosen.

/// Threads of a block. Blocks are large where the results are few: the fewer there are, the sooner the last one has
/// joined their parts.
namespace column_block {
inline constexpr std::uint32_t least = 128, small = 256, medium = 512, large = 1024;
inline constexpr std::uint32_t resident_threads = 1024;  // of a multiprocessor: enough to keep memory busy
inline constexpr std::uint32_t shared_bytes = 48 * 1024;
inline constexpr std::uint32_t wide_part_bytes = 16;
}  // namespace column_block

inline int inner_axis(const folded_kernel& f) { return f.kernel().rank - 1; }
const axis_class& inner_class_of(const folded_kernel& f);
/// Whether the innermost kept axis has these flags.
bool inner_is(const folded_kernel& f, std::uint16_t flags);
/// Whether columns are so long that several blocks share each.
bool splits_columns(const folded_kernel& f);
inline bool has_many_words(const folded_kernel& f) { return f.words() > 2; }
/// Whether everything is folded over one axis, from arrays read in place, and no output moves along that axis.
bool folds_one_axis_of_arrays(const folded_kernel& f);
/// Whether an array moves along all kept axes and the folded ones.
bool moves_everywhere(const folded_kernel& f, const array_argument& in);
bool are_aligned(const std::vector<const array_argument*>& inputs);
/// Whether every folded array moves along all axes and has elements of one size, no other operand of a fold moves along
/// the columns, and no fold needs an element's place.
bool folds_vectors_of_columns(const folded_kernel& f);

}  // namespace ingot::codegen
