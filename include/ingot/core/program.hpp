// The encoding of trees: a tree is a postfix program of 32-bit words, made constexpr from its C++ type (or at run time
// from a lazy), plus one operand for each leaf in program order and one attribute word for each binder.
//
// Every node that is not elementwise is a *binder*: it binds the trailing axes of its operand, and the operand's
// remaining leading axes are the result's axes:
//   reduce   folds over the bound axes:             result[j...] = fold of operand[j..., k...] over k
//   scan     folds up to a place on the bound axis: result[j...] = left fold of operand[j..., 0..=p], p = pick(j...)
//   gather   reads at a computed place:             result[j...] = operand[j..., index[j...]]
//   unravel  reads at the digits of a place (reshape): result[j...] = operand[j..., digits of pick(j...)], or, along
//            one axis, at the substitute of a place beyond its ends (place_rule)
//   library  reads the result of a library's function, whose operands all have the bound axes (libraries.def), at
//            the place pick(j...) of the C order of its own axes
// `pick` is a layout over the result's axes, held as an operand of its own. So a view of any node is the same affine
// composition on every layout beneath it, and no node stores a view that other nodes would have to understand.
#pragma once

#include <cstdint>

#include <ingot/core/dtype.hpp>
#include <ingot/core/libraries.hpp>
#include <ingot/core/operators.hpp>

namespace ingot::detail {

/// The kinds of program words; brackets name the operands that a word consumes from the operand list.
enum class word_kind : std::uint8_t {
    leaf,       // array elements [array]
    scalar,     // one value [scalar]; its dtype is in the operand; code 1: a whole array for a user's text [raw]
    generator,  // random numbers [generator]; op is the generator
    map,        // elementwise; op is a row of the operator table; takes arity values
    reduce,     // op is a fold; takes one value, a user's fold also its text; one attribute word: the number of bound
                // axes
    scan,       // op is a fold [pick]; takes one value
    gather,     // takes two values: source, index; op is the index mode
    unravel,    // op is a place_rule [pick]; takes one value; one attribute word: the number of bound axes, 0 where the
                // axes merged
    reference,  // repeats the value of an earlier word, whose number is the payload (lazy programs only)
    lazy,       // a run-time tree [lazy], spliced before the key is made
    text,       // a kernel that a user wrote [text], with the dtypes of its placeholders
    user,       // a function of such a kernel, elementwise; takes values, then the text; code: arity | function << 8
    library,    // op is a library_function [pick]; takes its operands; one attribute word: the number of bound axes
    scatter,    // outputs only; takes two values: the value to write, and its distance in elements from the output's
                // first (negative: nothing is written); op is a scatter_rule
};

/// Folds of reductions and scans. `user` is a fold from a user's text. The last two are in no program: the planner
/// makes them from sums (codegen/graph/online_reductions.hpp).
// clang-format off
enum class fold : std::uint16_t {
    sum, prod, min, max, argmin, argmax, all, any, count_nonzero, logaddexp, user, squares, exponentials
};
// clang-format on
/// The functions of a user's reduction; an elementwise kernel has one for each output.
enum class user_part : std::uint8_t { map, post };
/// The most values that a node takes.
inline constexpr int most_arguments = 11;
/// A raw array of a user's text has up to so many axes.
inline constexpr int most_raw_axes = 8;
/// Kinds of random leaves. `position`: element i is i. `bits`: the generator's own words. `integers`: 0 to the
/// operand's last.
enum class generator_kind : std::uint16_t { uniform, normal, position, bits, integers };
/// Where an unravel reads. `digits`: at the digits of its place. Along one axis, a place beyond the ends is replaced:
/// `nearest` by the nearest element, `reflect` by its mirror image at the end element, `symmetric` by that behind it,
/// `wrap` by the element as far from the other end; there places are at most one extent beyond either end.
enum class place_rule : std::uint16_t { digits, nearest, reflect, symmetric, wrap };

/// The treatment of an index outside its axis: `check` is an error, `wrap` counts modulo the extent, `clip` takes the
/// nearest end.
enum class index_mode : std::uint8_t { check, wrap, clip };  // index_use has them in this order, then unchecked_mode
/// Promises that no index is outside its axis.
inline constexpr index_mode unchecked_mode{3};

/// The effect of a scattered value on the element at its position. With `set`, one of several values wins.
enum class scatter_rule : std::uint16_t { set, add, max, min };

/// word = kind (4 bits) | dtype of the value (8 bits) | code: op, fold, generator or reference (20 bits).
using word = std::uint32_t;

constexpr word make_word(word_kind k, dtype t, std::uint32_t code = 0) {
    return static_cast<word>(k) | static_cast<word>(t) << 4 | code << 12;
}
/// Codes are below this number.
inline constexpr std::uint32_t most_codes = std::uint32_t{1} << 20;
constexpr word_kind kind_of_word(word w) { return static_cast<word_kind>(w & 15u); }
constexpr dtype dtype_of_word(word w) { return static_cast<dtype>(w >> 4 & 0xffu); }
constexpr std::uint32_t code_of_word(word w) { return w >> 12; }
constexpr op op_of_word(word w) { return static_cast<op>(code_of_word(w)); }

constexpr bool is_binder(word_kind k) {
    return k == word_kind::reduce || k == word_kind::scan || k == word_kind::gather || k == word_kind::unravel ||
           k == word_kind::library;
}
/// Whether a binder of this kind binds axes of its value `i`: a gather binds those of the source alone, a library of
/// all.
constexpr bool binds_value(word_kind k, int i) { return is_binder(k) && (i == 0 || k == word_kind::library); }
/// The number of values that a word takes from the stack.
constexpr int arity_of_word(word w) {
    switch (kind_of_word(w)) {
        case word_kind::map:
            return facts(op_of_word(w)).arity;
        case word_kind::user:
            return static_cast<int>(code_of_word(w) & 0xffu);
        case word_kind::reduce:
            return code_of_word(w) == static_cast<std::uint32_t>(fold::user) ? 2 : 1;
        case word_kind::scan:
        case word_kind::unravel:
            return 1;
        case word_kind::gather:
        case word_kind::scatter:
            return 2;
        case word_kind::library:
            return facts(static_cast<library_function>(code_of_word(w))).arity();
        default:
            return 0;
    }
}
/// The number of operands that a word takes from the operand list.
constexpr int operands_of_word(word w) {
    switch (kind_of_word(w)) {
        case word_kind::leaf:
        case word_kind::scalar:
        case word_kind::generator:
        case word_kind::scan:
        case word_kind::unravel:
        case word_kind::lazy:
        case word_kind::text:
        case word_kind::library:
            return 1;
        default:
            return 0;
    }
}

/// The exponents of power that become multiplies; a scalar operand carries its class.
enum class exponent_class : std::uint8_t { none, two, three, half, minus_half, minus_one };

}  // namespace ingot::detail
