// Row programs on the host: one kernel that has a row, or some neighbouring ones, in the cache while phase follows
// phase.
#pragma once

#include "codegen/graph/rows.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

/// Whether caches hold the rows, or there are rows enough for all threads. Else steps through temporaries are faster,
/// for they share a row among threads.
bool hold_in_caches(const key& k, const graph& g, const row_program& r);

void emit_row_host(const key& k, const graph& g, const row_program& r, plan& p);

}  // namespace ingot::codegen
