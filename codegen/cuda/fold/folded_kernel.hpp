// The folds of a kernel before any text is printed, and the operands that move along the folded axes. CUDA's schedules
// of folds are chosen by these facts.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cuda/kernel.hpp"
#include "codegen/graph/reduction.hpp"

namespace ingot::codegen {

/// Arrays that a space folds and that move along it.
std::vector<const array_argument*> inputs_of(const cuda_kernel& b, const folded_space& s);

class folded_kernel {
public:
    folded_kernel(const cuda_kernel& b, const folding& f);

    const cuda_kernel& kernel() const { return kernel_; }
    const std::vector<folded_space>& spaces() const { return spaces_; }
    const std::vector<fold_traits>& folds(std::size_t space) const { return traits_[space]; }
    /// The first of the spaces whose class has the longest rows.
    std::size_t longest() const { return longest_; }
    const folded_space& longest_space() const { return spaces_[longest_]; }
    const std::vector<fold_traits>& longest_folds() const { return traits_[longest_]; }
    std::uint8_t length_class() const { return length_class_; }
    /// Members of a result's partial results, and their slots in the scratch.
    std::uint32_t words() const { return words_; }
    std::uint32_t slots() const { return slots_; }
    /// Bytes of the largest partial result.
    std::uint32_t widest_part() const;

    std::uint64_t kept_bits() const { return axis_range(0, kernel_.rank); }
    /// For columns: the kept axes but the innermost, along which columns lie beside each other.
    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(kernel_.rank - 1); }
    std::uint64_t loops_of(const array_argument& in) const { return kernel_.graph.nodes[in.node].axes; }
    std::vector<const array_argument*> inputs_of(const folded_space& s) const { return codegen::inputs_of(kernel_, s); }
    /// Random leaves that a space folds and that move along it.
    std::vector<node_id> generators_of(const folded_space& s) const;
    /// Whether a space folds random leaves and all of them have neighbours along a loop, so that one call of the
    /// generator makes several of `each` elements. A leaf that does not move along the loop has one number for all
    /// elements.
    bool draws_groups(const folded_space& s, int along, std::uint32_t each) const;
    /// Whether a space folds random leaves and no array.
    bool draws_alone(const folded_space& s) const { return inputs_of(s).empty() && !generators_of(s).empty(); }
    /// All nodes computed for an element of any space.
    std::vector<node_id> values() const;
    /// Whether neighbours along a loop are neighbours in memory.
    bool is_unit(const array_argument& at, int along) const;

    /// The number of a thread's `columns` neighbouring columns that one load of an input reads, and the bytes that a
    /// thread loads for one element of each column.
    std::uint32_t columns_of(const array_argument& in, std::uint32_t columns) const;
    std::uint32_t bytes_at_once(const folded_space& s, std::uint32_t columns) const;
    /// Loads in flight, of `bytes` each: so many that a lane's tile holds about `bytes_in_flight`, but no more than the
    /// longest row of the class has elements and the compiler can take. One where random numbers are drawn: drawing
    /// takes longer than loading, and its text is not repeated.
    std::uint32_t unroll_of(const folded_space& s, std::uint32_t bytes, std::uint32_t tile_elements,
                            std::uint32_t lane_elements, std::uint32_t bytes_in_flight = 64) const;
    /// Whether the longest space's folds compute as long as they load; a thread then has `bytes_ahead` in flight.
    bool gains_from_tiles_ahead() const;
    static constexpr std::uint32_t bytes_ahead = 64;
    /// Blocks of a multiprocessor then: two compute as much as three; in waves three fit.
    static constexpr std::uint32_t blocks_ahead = 2, blocks_ahead_in_waves = 3;
    /// The waves of blocks that share columns. With outer axes there are so many that the waves gain more than
    /// publishing costs.
    std::uint32_t waves_of_columns() const { return kernel_.rank == 1 ? 1 : 4; }

protected:
    const cuda_kernel& kernel_;
    const std::vector<folded_space>& spaces_;
    const std::vector<std::size_t>& results_;
    std::vector<std::vector<fold_traits>> traits_;  // of each space
    std::size_t longest_ = 0;
    std::uint8_t length_class_ = 1;
    std::uint32_t words_ = 0, slots_ = 0;
};

}  // namespace ingot::codegen
