// Random leaves in generated source: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", 2011), the same integers and uniforms on both targets.
//
// Element i of a leaf is a function of the leaf's seed and call number and of i alone. One Philox call makes a group
// of elements, 4 of float or 2 of double: the key is the seed, the counter's low half i / group, its high half the call
// number, and the element takes word i % 4 (float) or words 2 (i % 2) and 2 (i % 2) + 1, low word first (double).
//   uniform  the top 24 or 53 bits of its words, in [0, 1)
//   normal   Box and Muller over each pair of elements: the pair's even words give the radius, its odd words the angle;
//            the even element takes the cosine, the odd one the sine (double: the first element's words the radius)
#pragma once

#include <string>

#include <ingot/program.hpp>

#include "codegen/spelling.hpp"

namespace ingot::codegen {

/// How many elements of this dtype one call of Philox makes.
constexpr std::uint32_t generator_group(dtype t) { return t == dtype::f4 ? 4 : 2; }

/// Puts the generator into the prelude and returns its name. name(to, key, i / group) writes a whole group;
/// name(key, i) is element i.
std::string spell_generator(detail::generator_kind kind, dtype t, prelude& needs);

}  // namespace ingot::codegen
