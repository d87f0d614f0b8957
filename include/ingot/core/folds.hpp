// The table of folds as constexpr data, and the dtypes that its rows give. Templates and emitters both use it.
#pragma once

#include <cstdint>
#include <string_view>

#include <ingot/core/dtype.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/core/program.hpp>

namespace ingot::detail {

enum class fold_rule : std::uint8_t {
    sums,           // bool and integers in 64 bits, floats in their own dtype
    own,            // the element's dtype
    counts,         // truths, counted in i8
    truth,          // truths, as b1
    arg_reduction,  // elements with their indices in the row; gives the winner's index, in i8
    logarithms,     // logarithms of numbers that are added, in the element's dtype
    shifted,        // sums the `join` row of x - c, where c is known when the row is folded; the element's dtype
};

constexpr dtype fold_dtype(fold_rule rule, dtype of) {
    switch (rule) {
        case fold_rule::counts:
        case fold_rule::arg_reduction:
            return dtype::i8;
        case fold_rule::truth:
            return dtype::b1;
        case fold_rule::sums:
            if (kind_of(of) > kind::integer) return of;
            return kind_of(of) == kind::integer && !is_signed(of) ? dtype::u8 : dtype::i8;
        default:
            return of;
    }
}

enum class fold_start : std::uint8_t { zero, one, least, greatest };

struct fold_facts {
    fold of;
    std::string_view name;
    fold_rule rule;
    op join;
    fold_start start;

    /// Whether there is no result for no elements.
    constexpr bool needs_elements() const { return start == fold_start::least || start == fold_start::greatest; }
};

inline constexpr fold_facts fold_table[] = {
#define INGOT_FOLD(name, rule, join, start) {fold::name, #name, fold_rule::rule, op::join, fold_start::start},
#include <ingot/core/folds.def>
};

/// The facts of every user's fold, whatever its text.
inline constexpr fold_facts user_fold{fold::user, "user", fold_rule::own, op::add, fold_start::zero};

/// Sums of (x - c)^2 and of exp(x - c).
inline constexpr fold_facts squares_fold{fold::squares, "squares", fold_rule::shifted, op::square, fold_start::zero};
inline constexpr fold_facts exponentials_fold{fold::exponentials, "exponentials", fold_rule::shifted, op::exp,
                                              fold_start::zero};

constexpr const fold_facts& facts(fold f) {
    if (f == fold::user) return user_fold;
    if (f == fold::squares) return squares_fold;
    if (f == fold::exponentials) return exponentials_fold;
    const fold_facts* row = fold_table;
    while (row->of != f) ++row;
    return *row;
}

}  // namespace ingot::detail
