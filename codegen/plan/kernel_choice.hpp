// The kernel that computes a graph without temporaries. It is chosen once, when the graph is cut: cutting asks whether
// there is one, emitting visits it. Maps, folds and scans choose how threads share the elements when they are emitted.
#pragma once

#include <initializer_list>
#include <optional>
#include <variant>

#include "codegen/cuda/row/register_rows.hpp"
#include "codegen/cuda/staged/staged_rows.hpp"
#include "codegen/graph/reduction.hpp"
#include "codegen/graph/rows.hpp"
#include "codegen/graph/scan.hpp"
#include "codegen/host/choice.hpp"

namespace ingot::codegen {

/// Elements that are computed one by one; folds of a thread's own are among their values.
struct map_kernel {};

/// A row program: CUDA stages rows in shared memory or holds them in registers, the host keeps them in caches.
struct row_kernel {
    row_program rows;
    std::variant<staged_rows, register_rows, row_strips> how;
};

/// On CUDA, reductions of short rows that are staged in shared memory: a row program of one phase.
struct staged_fold {
    row_program rows;
    staged_rows how;
};

struct fold_kernel {
    folding folds;
};

struct scan_kernel {
    scanning scans;
};

using kernel_choice = std::variant<map_kernel, row_kernel, staged_fold, fold_kernel, scan_kernel>;

/// Whether a graph has nodes of one of these kinds.
bool has_kind(const graph& g, std::initializer_list<node_kind> kinds);

/// `rows`: the graph's row program, where it is one. Empty where no kernel holds these rows.
std::optional<kernel_choice> choose_kernel(const key& k, const graph& g, const std::optional<row_program>& rows);

/// Adds the kernel to the plan, as its only step.
void emit_kernel(const kernel_choice& choice, const key& k, const graph& g, plan& p);

}  // namespace ingot::codegen
