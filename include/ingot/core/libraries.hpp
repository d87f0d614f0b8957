// The table of library functions that are nodes of trees, as constexpr data, for the templates and the planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ingot/core/dtype.hpp>

namespace ingot::detail {

/// The memory layout of an array along the axes of a library's function; along the batch's axes any strides are
/// allowed.
enum class library_layout : std::uint8_t {
    contiguous,  // in C order, without gaps
    matrix,      // two axes, one of stride 1, and the other's at least the first's extent
    lattice,     // a stride is a multiple of the next axis', by at least its extent; few steps between batches
    consumed,    // in C order, in memory of the call, which the function may overwrite
};

/// The dtype to which operands are converted, where the result has dtype T.
enum class library_operand : std::uint8_t {
    same,          // T
    own,           // not converted
    real_part,     // the real dtype of the complex T's parts
    complex_pair,  // the complex dtype whose parts are T
};
constexpr dtype type_taken(library_operand takes, dtype result) {
    switch (takes) {
        case library_operand::real_part:
            return part_of(result);
        case library_operand::complex_pair:
            return result == dtype::f4 ? dtype::c8 : dtype::c16;
        default:
            return result;
    }
}

enum class library_function : std::uint16_t {
#define INGOT_LIBRARY_FUNCTION(name, axes, first, second, takes, result, wants, operations) name,
#include <ingot/core/libraries.def>
};

struct library_facts {
    std::string_view name;
    int axes;
    std::uint8_t operands[2];
    library_operand takes;
    std::uint8_t result;
    library_layout wants;
    std::uint32_t operations;

    constexpr int arity() const { return operands[1] == 0 ? 1 : 2; }
    /// The number of axes in a mask.
    static constexpr int count(std::uint32_t mask) {
        int n = 0;
        for (; mask != 0; mask &= mask - 1) ++n;
        return n;
    }
};

inline constexpr library_facts library_table[] = {
#define INGOT_LIBRARY_FUNCTION(name, axes, first, second, takes, result, wants, operations) \
    {#name, axes, {first, second}, library_operand::takes, result, library_layout::wants, operations},
#include <ingot/core/libraries.def>
};
inline constexpr std::uint32_t library_function_count = sizeof(library_table) / sizeof(library_table[0]);

constexpr const library_facts& facts(library_function f) { return library_table[static_cast<std::size_t>(f)]; }

}  // namespace ingot::detail
