// The facts about a fold from which schedules are chosen; they have no text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ingot/core/folds.hpp>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// The members of a partial result of a fold that is shifted: ".count", ...
const std::vector<std::string>& shifted_members(detail::fold f);

/// The facts about the fold of a `reduce` or `scan` node before any text is written.
class fold_traits {
public:
    fold_traits(const graph& g, node_id reduction);

    node_id reduction() const { return reduction_; }
    node_id value() const { return value_; }  // the folded value
    detail::fold of() const { return row_.of; }
    bool is_shifted() const { return row_.rule == detail::fold_rule::shifted; }
    bool is_moments() const { return row_.of == detail::fold::squares; }
    bool is_exponentials() const { return row_.of == detail::fold::exponentials; }
    bool is_user() const { return row_.of == detail::fold::user; }
    /// Whether the result is the place of an element.
    bool is_arg_reduction() const { return row_.rule == detail::fold_rule::arg_reduction; }
    /// Whether the greatest value wins, where the result is a place.
    bool greatest() const { return row_.start == detail::fold_start::least; }
    /// Whether a part (fold_writer::part_type) has another type than a partial result.
    bool has_parts() const { return is_shifted(); }
    /// Whether the joiner has join_all(array) and join_lanes<lanes>(value), which are quicker than joining one by one.
    bool joins_at_once() const { return is_moments(); }
    /// Whether missing entries must be counted, as no entry leaves a partial result unchanged.
    bool counts_entries() const { return is_shifted(); }
    /// Whether joining rounds, so that the order affects the error.
    bool rounds() const {
        return is_shifted() ||
               (row_.rule == detail::fold_rule::sums && detail::kind_of(type_) == detail::kind::floating);
    }
    /// Whether a result has the same bits whatever the order of joining.
    bool is_in_any_order() const {
        const detail::kind of = detail::kind_of(type_);
        return is_arg_reduction() || (!is_user() && (of == detail::kind::boolean || of == detail::kind::integer));
    }
    /// Whether a join is tens of instructions, or a user's text.
    bool is_costly() const { return is_user() || row_.rule == detail::fold_rule::logarithms; }

    /// 64-bit words of scratch for a partial result.
    std::uint32_t words() const;
    /// The number of its slots in the scratch, of 4 bytes each.
    std::uint32_t slots() const;
    /// The size of a variable for a whole row.
    std::uint32_t bytes() const;

protected:
    dtype wide() const {
        const bool widens = (rounds() && !is_shifted()) || row_.rule == detail::fold_rule::logarithms;
        return widens && type_ == dtype::f4 ? dtype::f8 : type_;
    }

    const detail::fold_facts& row_;
    node_id reduction_, value_;
    dtype type_;    // of partial results, or of the values of places
    dtype folded_;  // of the elements
};

}  // namespace ingot::codegen
