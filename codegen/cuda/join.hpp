// How threads join partial results in generated CUDA: what one thread has, what neighbouring lanes have, what the warps
// of a row have left in shared memory. Each function goes into the prelude once and is called by its name; the order
// of joining depends on nothing but where a value is.
#pragma once

#include "codegen/text/fold.hpp"

namespace ingot::codegen {

/// join_pairs<fold, n>(values): n values of one thread, halves with each other.
std::string join_pairs(prelude& needs);
/// from_lane(value, far): what the lane `far` away has.
void add_exchange(fold_writer& f, prelude& needs);
/// join_lanes<fold, lanes>(value): over a group of neighbouring lanes, each of which gets the result.
std::string join_lanes(fold_writer& f, prelude& needs);
/// join_slots<fold, n>(slots): n values in shared memory; every lane of a warp gets the result.
std::string join_slots(fold_writer& f, prelude& needs);
/// scan_lanes<fold, lanes>(v, start, lane): makes of each of n values of a thread what lies before it in a group of
/// neighbouring lanes.
std::string scan_lanes(prelude& needs);
/// scan_block<fold, warps>(v, start, parts): the same in a block; `parts` has a place in shared memory for each value
/// of each warp.
std::string scan_block(prelude& needs);
/// join_down<fold, n>(values, room, across, down, height), or the like: over the rows of threads of a block, each of n
/// values, through shared memory; those of the first row have the results.
std::string join_down(fold_writer& f, const std::string& index, prelude& needs);
/// share_down<n>(values, room, across, down, height): what those of the first row have, to all rows.
std::string share_down(const std::string& index, prelude& needs);

}  // namespace ingot::codegen
