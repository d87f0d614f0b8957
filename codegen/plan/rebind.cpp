// Translates a launch that was emitted for a stage to the whole key: its axes, operands, outputs and temporaries.
#include "codegen/plan/stages.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

void rebind(launch& step, const stage& from, const staging& whole, std::size_t operands) {
    const auto bits = [&](std::uint64_t axes) {
        std::uint64_t b = 0;
        for (const int a : axes_in(axes)) b |= axis_bit(from.axes[static_cast<std::size_t>(a)]);
        return b;
    };
    const auto move = [&](formula& f) { f = f.renamed(from.axes); };
    for (formula& f : step.formulas) move(f);
    for (formula& f : step.grid) move(f);
    move(step.scratch_count);
    for (work& w : step.work) w.axes = bits(w.axes);

    // The stride of an axis in a temporary: the product of the extents of the axes inside it.
    const auto stride_in = [&](argument& a, const std::vector<int>& axes) {
        std::uint64_t inner = 0;
        for (std::size_t i = axes.size(); axes[--i] != from.axes[a.axis];) inner |= axis_bit(axes[i]);
        a.kind = argument_kind::count;
        a.index = step.index_of(points_of(inner));
    };
    const std::size_t first_view = operands + whole.temporaries.size();
    const std::size_t first_reading = first_view + whole.views.size();
    const auto temporary_of = [&](std::size_t operand) {
        return operand >= first_reading ? whole.readings[operand - first_reading].temporary
               : operand >= first_view  ? whole.views[operand - first_view].temporary
                                        : static_cast<std::uint16_t>(operand - operands);
    };
    const auto stride_of_view = [&](argument& a, const temporary_view& v, int picked) {
        const int loop = from.axes[a.axis];
        const bool batch = (v.batch >> loop & 1u) != 0;
        if (batch) stride_in(a, whole.temporary_axes[v.temporary]);
        a.kind = argument_kind::view_stride;
        a.pick = v.pick;
        if (!batch) a.index = no_number;
        a.axis = picked < 0 ? no_number : static_cast<std::uint16_t>(picked);
    };
    const auto writes_temporary = [&](std::size_t output) { return output < from.temporaries.size(); };
    const auto output_of = [&](std::size_t output) { return from.outputs[output - from.temporaries.size()]; };
    for (argument& a : step.arguments) {
        const std::size_t index = a.index;
        const bool reads_temporary = index >= operands;
        switch (a.kind) {
            case argument_kind::operand_pointer:
                if (index >= first_view && index < first_reading) {
                    const temporary_view& v = whole.views[index - first_view];
                    a.kind = argument_kind::view_pointer, a.index = v.temporary, a.pick = v.pick;
                } else if (reads_temporary)
                    a.kind = argument_kind::temporary_pointer, a.index = temporary_of(index);
                break;
            case argument_kind::operand_stride:
                if (index >= first_reading)
                    stride_in(a, whole.readings[index - first_reading].axes);
                else if (index >= first_view)
                    stride_of_view(a, whole.views[index - first_view], from.operand_axes[index][a.axis]);
                else if (reads_temporary)
                    stride_in(a, whole.temporary_axes[index - operands]);
                else
                    a.axis = static_cast<std::uint16_t>(from.operand_axes[index][a.axis]);
                break;
            case argument_kind::output_pointer:
                if (writes_temporary(index))
                    a.kind = argument_kind::temporary_pointer, a.index = from.temporaries[index];
                else
                    a.index = output_of(index);
                break;
            case argument_kind::output_stride:
                if (writes_temporary(index))
                    stride_in(a, whole.temporary_axes[from.temporaries[index]]);
                else
                    a.index = output_of(index), a.axis = static_cast<std::uint16_t>(from.output_axes[index][a.axis]);
                break;
            default:
                break;
        }
    }

    std::vector<std::uint16_t> arrays;
    for (const std::uint16_t i : step.reads)
        if (i < operands)
            arrays.push_back(i);
        else
            step.reads_temporaries.push_back(temporary_of(i));
    step.reads = std::move(arrays);
    step.writes_temporaries = from.temporaries;
    step.writes = from.outputs;
}

}  // namespace ingot::codegen
