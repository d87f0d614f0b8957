#include <memory>

#include "runtime/front/plan_steps.hpp"

#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/kernels/error_record.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::runtime {

using codegen::argument_kind;

std::uint64_t points_of(std::uint64_t axes, std::span<const index_t> extents) {
    std::uint64_t points = 1;
    for (std::size_t a = 0; a < extents.size(); ++a)
        if (axes >> a & 1u) points *= static_cast<std::uint64_t>(extents[a]);
    return points;
}

std::size_t step_context::bytes_of(const codegen::temporary& t) const {
    return t.bytes != 0 ? t.bytes : t.elements.value(c.extents, processors) * detail::size_of(t.type);
}

namespace {

/// The arrays of a call, with the extents and strides to which they point.
class resolved_arrays {
public:
    resolved_arrays(const std::vector<codegen::library_array>& arrays, const step_context& with) {
        std::size_t axes = 0;
        for (const codegen::library_array& a : arrays) axes += a.axes.size();
        extents_.reserve(axes);
        strides_.reserve(axes);
        for (const codegen::library_array& a : arrays) {
            const std::size_t from = extents_.size(), n = a.axes.size();
            for (const codegen::library_axis& axis : a.axes) {
                extents_.push_back(with.c.extents[axis.extent]);
                strides_.push_back(stride_of(a, axis, with));
            }
            arrays_.push_back(
                {with.address_of(a.memory, a.index), a.type, {extents_.data() + from, n}, {strides_.data() + from, n}});
        }
    }
    std::span<const library_array> get() const noexcept { return arrays_; }

private:
    static index_t stride_of(const codegen::library_array& a, const codegen::library_axis& axis,
                             const step_context& with) {
        if (!axis.moves) return 0;
        const auto inner = static_cast<index_t>(points_of(axis.inner, with.c.extents));
        if (axis.stride == codegen::no_number) return inner;
        const std::size_t row = a.memory == argument_kind::output_pointer ? with.s.operands.size() + a.index : a.index;
        return with.c.strides_of(row)[axis.stride] * inner;
    }

    std::vector<index_t> extents_, strides_;
    std::vector<library_array> arrays_;
};

}  // namespace

void run_library_call(const codegen::library_call& step, const library_function& f, const step_context& with) {
    // A plan lives for ever; a recorded graph owns the resolved arrays.
    const auto operands = std::make_shared<const resolved_arrays>(step.operands, with),
               results = std::make_shared<const resolved_arrays>(step.results, with);
    library_arguments given{operands->get(), results->get(),          step.batch_axes, step.attributes, nullptr, 0,
                            with.stream,     statement_number(with.e)};
    buffer_ref workspace;
    if (step.workspace != codegen::no_number) {
        given.workspace_bytes = with.e.plan.temporaries[step.workspace].bytes;
        if (f.workspace_bytes != nullptr) given.workspace_bytes += f.workspace_bytes(given);
        workspace = allocate_buffer(given.workspace_bytes, with.stream.device, with.stream);
        order_write(*workspace, with.stream);
        given.workspace = workspace->data;
    }
    graph_capture* const capture = with.stream.capture.load(std::memory_order_relaxed);
    if (capture != nullptr) ++capture->size;
    if (capture != nullptr && with.stream.synchronous)
        return capture->record([&f, given, operands, results] { f.call(given); });
    f.call(given);
    if (capture == nullptr) add(counter::library_calls);
}

void run_fill(const codegen::fill& step, const step_context& with) {
    const bool output = step.memory == argument_kind::output_pointer;
    const std::size_t bytes = output ? static_cast<std::size_t>(with.s.outputs[step.index].where->size()) *
                                           detail::size_of(with.s.outputs[step.index].type)
                                     : with.bytes_of(with.e.plan.temporaries[step.index]);
    std::byte* const to = with.address_of(step.memory, step.index);
    const unsigned char value = step.value;
    graph_capture* const capture = with.stream.capture.load(std::memory_order_relaxed);
    if (capture != nullptr && with.stream.synchronous) return capture->record([=] { fill_on_host(to, value, bytes); });
    if (with.stream.synchronous) return fill_on_host(to, step.value, bytes);
    with.stream.backend->fill(to, step.value, bytes, with.stream.native);
}

}  // namespace ingot::runtime
