// The device and stream on which a statement runs.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include <ingot/kernels/measure.hpp>

#include "runtime/device/stream.hpp"
#include "runtime/front/statement.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::detail {
struct destination;
struct own_rows;
}  // namespace ingot::detail

namespace ingot::runtime {

struct execution_context {
    stream_state* stream = nullptr;
    environment_class environment{};
};

/// The device of the statement's arrays and random leaves (the current one where it has neither), and its stream: the
/// current one, or the device's default where another device is current.
execution_context context_of(const statement&);
execution_context context_on(device_id);

/// Whether a statement reads or writes an array whose parts lie on several ranks.
bool is_distributed(const statement&) noexcept;
/// Receives the steps of a statement over arrays in parts, to explain them.
struct step_visitor {
    std::function<void(const kernel_explanation&)> exchange;
    std::function<void(const joint_outputs&)> compute;  // this rank's share
};
/// The functions for such arrays: null until the process has a session of ranks (runtime/distributed), so that others
/// neither call nor link them.
struct distributed_functions {
    void (*evaluate)(slot&, const statement&);
    /// A new array of the same shape and partition; `copy`: with the same elements.
    buffer_ref (*like)(const buffer&, bool copy);
    /// A new array with the elements around a part of it.
    buffer_ref (*like_around)(const buffer&, const detail::layout& part);
    /// Whether a new result of the statement would have the partition of this memory.
    bool (*keeps_partition)(const statement&, const buffer&);
    /// Whether the array has this shape. Others may share the memory of one of as many elements.
    bool (*has_shape)(const buffer&, std::span<const detail::index_t>) noexcept;
    /// For printing: copies an array's elements to the host in C order, of an axis with `edge` > 0 only so many from
    /// each end. A collective call. Returns whether this rank prints.
    bool (*read_shown)(const buffer&, std::span<const detail::index_t> edge, std::vector<unsigned char>& bytes);
    /// See sorts.hpp.
    detail::own_rows (*take_own_rows)(const detail::destination&, const buffer&);
    void (*join_rows)(const detail::destination&, const buffer& part, const detail::layout& where, const buffer& like,
                      detail::index_t most);
    /// Writes a .npy file, each rank its part.
    void (*save)(const std::string& path, const buffer&);
    /// How many steps of iterate follow one exchange; at least 1.
    detail::index_t (*steps_together)(const statement&);
    /// Shows the steps, which are not run.
    void (*visit_steps)(const statement&, const step_visitor&);
};
extern constinit std::atomic<const distributed_functions*> for_distributed;

/// Evaluates a statement; the slot belongs to its type.
void evaluate(slot&, statement);

/// How many steps of a repeated statement over ordinary arrays one kernel does, at most as many as it is asked for.
std::uint32_t steps_of_kernel(statement);

}  // namespace ingot::runtime
