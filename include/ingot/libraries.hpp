// The table of library functions that are nodes of trees, as constexpr data. The templates and the planner ask here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot::detail {

/// How an array lies along the axes that a library's function is about; along the batch's it may move in any way.
enum class library_layout : std::uint8_t {
    contiguous,  // in C order, without gaps
    matrix,      // two axes, one of stride 1, and the other's at least the first's extent
};

/// Of the operands.
enum class library_dtype : std::uint8_t {
    converted,  // to the result's
    own,
};

enum class library_function : std::uint16_t {
#define INGOT_LIBRARY_FUNCTION(name, axes, first, second, result, wants, takes, operations) name,
#include <ingot/libraries.def>
};

struct library_facts {
    std::string_view name;
    int axes;
    std::uint8_t operands[2];
    std::uint8_t result;
    library_layout wants;
    library_dtype takes;
    std::uint32_t operations;

    constexpr int arity() const { return operands[1] == 0 ? 1 : 2; }
    /// How many axes are set in such a mask.
    static constexpr int count(std::uint32_t mask) {
        int n = 0;
        for (; mask != 0; mask &= mask - 1) ++n;
        return n;
    }
};

inline constexpr library_facts library_table[] = {
#define INGOT_LIBRARY_FUNCTION(name, axes, first, second, result, wants, takes, operations) \
    {#name, axes, {first, second}, result, library_layout::wants, library_dtype::takes, operations},
#include <ingot/libraries.def>
};
inline constexpr std::uint32_t library_function_count = sizeof(library_table) / sizeof(library_table[0]);

constexpr const library_facts& facts(library_function f) { return library_table[static_cast<std::size_t>(f)]; }

}  // namespace ingot::detail
