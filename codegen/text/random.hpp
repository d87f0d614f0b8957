// Random leaves in generated source: the functions of <ingot/core/philox.hpp>, printed. One call of Philox makes a
// group of elements, 4 of 32 bits or 2 of 64; a schedule that owns whole groups asks for them so.
#pragma once

#include <string>

#include <ingot/core/program.hpp>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// How many elements of this dtype one call of Philox makes.
constexpr std::uint32_t generator_group(dtype t) { return detail::size_of(t) == 4 ? 4 : 2; }

/// The type of what a generator is called with.
constexpr std::string_view key_type_of(detail::generator_kind kind) {
    return kind == detail::generator_kind::integers ? "ranged_key" : "generator_key";
}

/// Puts the generator into the prelude and returns its name. name(to, key, i / group) writes a whole group;
/// name(key, i) is element i. `approximate`: for a compiler that replaces the functions which it calls.
std::string spell_generator(detail::generator_kind kind, dtype t, bool approximate, prelude& needs);
/// The same for numbers from anywhere on: name<n>(to, key, i) writes the numbers [i, i + n). On a GPU.
std::string spell_generator_from(detail::generator_kind kind, dtype t, bool approximate, prelude& needs);

}  // namespace ingot::codegen
