// The text of shifted reductions, sums over x - c where c is known only when the row has been folded
// (graph/online_reductions.hpp): a part of the row, the join of two parts, and the sum for a c. CUDA's parts have the
// elements' dtype, the host's are double.
#pragma once

#include <string>

#include <ingot/core/folds.hpp>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// The type of a part, with the members that `shifted_members` names, all of one dtype.
std::string spell_shifted_part(detail::fold f, dtype t, prelude& needs);
/// CUDA: the type of a thread's sums over a few tiles, which `with(sums, values, present)` updates, and its start;
/// `of_part` makes a part of it.
std::string spell_shifted_sums(detail::fold f, dtype t, prelude& needs);
std::string spell_shifted_sums_start(detail::fold f, dtype t, prelude& needs);
/// The struct with `join(a, b)`, `about(part, c)`, and for exponentials `greatest(part)`. CUDA: also `with(sums,
/// values, present)` and `of_part(sums)`. The host: also the functions for lanes (host/shifted_lanes.cpp).
std::string spell_shifted_fold(detail::fold f, dtype t, prelude& needs);
/// A part of no elements.
std::string spell_shifted_start(detail::fold f, dtype t, prelude& needs);
std::string spell_shifted_fold_host(detail::fold f, dtype t, prelude& needs);

}  // namespace ingot::codegen
