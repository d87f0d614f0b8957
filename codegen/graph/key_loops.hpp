// Decides which loop walks each axis of a key: its own, or the loop of another axis of the same extent. Two reductions
// of one row then share a loop and its loads, and an axis along which a reduction is broadcast back is walked once.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/graph/key.hpp"

namespace ingot::codegen {

class key_loops {
public:
    /// Gives each axis a loop of its own.
    explicit key_loops(const key& k);

    /// Decides which axes share a loop. (1) A scan walks along the axis on which its results are read one after the
    /// other. (2) Bound axes that the key calls partners share a loop where their binders' results move along the same
    /// loops, or along the outputs' alone, and where all axes of each are folded or the same place is taken apart. (In
    /// `sum(max(x[k] + y[l], k), l)` the two loops are nested, however equal their extents.) (3) The outputs' loops
    /// walk the folded axes of a reduction where its result is broadcast back along all of them.
    void share();

    /// For each axis of the key, the axis whose loop walks it.
    const std::vector<std::uint8_t>& of_axes() const { return of_axes_; }
    /// The key's axes along which an operand moves, and the axes that a binder binds.
    std::uint64_t axes_of(std::size_t operand) const;
    std::uint64_t bound_axes(std::size_t binder) const;
    /// The loops that walk a binder's axes, in order.
    std::vector<std::uint8_t> loops_of(std::size_t binder) const;
    /// The loops of these axes.
    std::uint64_t in_loops(std::uint64_t axes) const;
    /// The first operand with the same value at the same place of the loops. The same view under two binders that share
    /// no loop is read twice, so it stays two nodes.
    std::uint16_t first_same(std::size_t operand) const;

private:
    /// A value's words and operands, up to the last of the program so far.
    struct value_range {
        std::size_t word, operand;
    };
    /// The facts about a binder that one pass over the program finds.
    struct binder_facts {
        detail::word_kind kind;
        std::uint32_t code;
        std::uint64_t results;                    // the axes along which its result moves
        std::size_t pick;                         // the operand with its places, of a scan or an unravel
        value_range source{}, index{}, behind{};  // a gather's source, its index, and the end
    };

    std::vector<binder_facts> list_binders() const;
    /// Whether two gathers read the same elements: equal sources, whatever the loops that they bind, at equal indices.
    bool are_equal_gathers(const binder_facts& one, const binder_facts& other) const;
    /// Gives all axes of the binder whose first axis is `first` loops of `still`, the outputs' axes on which the
    /// binder's result does not move. Changes nothing where one axis finds no loop.
    bool walk_outputs_loops(std::size_t first, std::uint64_t still, const std::vector<std::size_t>& extent_of);
    /// Moves everything from one loop to another: a reduction, or a scan, with the scans that walk along it.
    void walk_instead(std::uint8_t loop, std::uint8_t other);
    /// Whether another axis of the same binder has the loop.
    bool is_taken(std::uint8_t loop, std::size_t axis) const;
    /// Whether `scanned` is a scan's axis whose results are read one after the other along `along`: an axis of the
    /// outputs, or one that a reduction or another scan folds.
    bool walks(const std::vector<binder_facts>& binders, std::size_t scanned, std::size_t along) const;
    /// Makes two axes of one extent, the first the earlier, share a loop where one walks along the other.
    void walk_jointly(const std::vector<binder_facts>& binders, std::size_t first, std::size_t second);
    /// Gives a scan's axis that has a loop of its own the loop of an axis along which it walks.
    void follow(const std::vector<binder_facts>& binders, std::size_t scanned, std::size_t along);
    /// An operand's stride classes on loop axes.
    std::vector<stride_class> strides_of(std::size_t operand) const;

    const key& key_;
    std::vector<std::uint8_t> of_axes_;
};

}  // namespace ingot::codegen
