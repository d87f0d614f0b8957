// Random leaves in generated source: the functions of <ingot/core/philox.hpp>, printed. One call of Philox makes a
// group of elements, 4 of 32 bits or 2 of 64; a schedule whose threads have whole groups asks for groups.
#pragma once

#include <string>

#include <ingot/core/program.hpp>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// The number of elements of this dtype that one call of Philox makes.
constexpr std::uint32_t generator_group(dtype t) { return detail::size_of(t) == 4 ? 4 : 2; }

/// The type of a generator's key.
constexpr std::string_view key_type_of(detail::generator_kind kind) {
    return kind == detail::generator_kind::integers ? "ranged_key" : "generator_key";
}

/// Adds the generator to the prelude and returns its name. name(to, key, i / group) writes a whole group; name(key, i)
/// is element i. `approximate`: the compiler replaces functions that the generator calls.
std::string spell_generator(detail::generator_kind kind, dtype t, bool approximate, prelude& needs);
/// Adds a generator of numbers from any index on, on a GPU: name<n>(to, key, i) writes the numbers [i, i + n).
std::string spell_generator_from(detail::generator_kind kind, dtype t, bool approximate, prelude& needs);

}  // namespace ingot::codegen
