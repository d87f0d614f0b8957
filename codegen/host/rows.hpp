// Row programs on the host: one kernel keeps a row, or some neighbouring ones, in the cache from phase to phase.
#pragma once

#include "codegen/graph/rows.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

/// Whether caches hold the rows, or there are enough rows for all threads. Else steps through temporaries are faster,
/// as they share a row among threads.
bool hold_in_caches(const key& k, const graph& g, const row_program& r);

void emit_row_host(const key& k, const graph& g, const row_program& r, plan& p);

}  // namespace ingot::codegen
