// The kernels that a schedule is printed to, by kind and target: what is in codegen/cuda and codegen/host. Each adds
// the launch and the source of one kernel to the plan.
#pragma once

#include "codegen/graph/reduction.hpp"
#include "codegen/graph/rows.hpp"
#include "codegen/graph/scan.hpp"
#include "codegen/host/choice.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

void emit_map_cuda(const key& k, const graph& g, plan& p);
void emit_map_host(const key& k, const graph& g, plan& p);
void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p);
void emit_fold_host(const key& k, const graph& g, const folding& f, plan& p);
void emit_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p);
void emit_row_host(const key& k, const graph& g, const row_program& r, const row_strips& choice, plan& p);
void emit_scan_host(const key& k, const graph& g, const scanning& s, plan& p);

}  // namespace ingot::codegen
