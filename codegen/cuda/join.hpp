// How threads join partial results in generated CUDA: the values of one thread, of neighbouring lanes, of a row's warps
// in shared memory. Each function is added to the prelude once and called by its name; the order of joining depends
// only on where a value is.
#pragma once

#include "codegen/text/fold.hpp"

namespace ingot::codegen {

/// join_pairs<fold, n>(values): n values of one thread, halves with each other.
std::string join_pairs(prelude& needs);
/// from_lane(value, far): the value of the lane `far` away.
void add_exchange(fold_writer& f, prelude& needs);
/// join_lanes<fold, lanes>(value): over a group of neighbouring lanes, each of which gets the result.
std::string join_lanes(fold_writer& f, prelude& needs);
/// join_slots<fold, n>(slots): n values in shared memory; every lane of a warp gets the result.
std::string join_slots(fold_writer& f, prelude& needs);
/// scan_lanes<fold, lanes>(v, start, lane): replaces each of a thread's n values by the prefix ahead of it in a group
/// of neighbouring lanes.
std::string scan_lanes(prelude& needs);
/// scan_block<fold, warps>(v, start, parts): likewise in a block; `parts` has a place in shared memory for each value
/// of each warp.
std::string scan_block(prelude& needs);
/// join_down<fold, n>(values, room, across, down, height), or the like: joins n values over the rows of threads of a
/// block, through shared memory; threads of the first row get the results.
std::string join_down(fold_writer& f, const std::string& index, prelude& needs);
/// share_down<n>(values, room, across, down, height): gives the values of the first row's threads to all rows.
std::string share_down(const std::string& index, prelude& needs);

}  // namespace ingot::codegen
