// The map kernel for CUDA whose threads fold for more than one element: for all elements of a short inner axis, so that
// values constant along it are read and computed once; and with neighbouring lanes, which share the turns of long
// loops, so that few results fill the GPU. All lanes of a result get the joined fold; one of them stores it. Lanes
// behind the last result fold that one too, for all lanes of a warp join.
#include "codegen/cuda/map/choice.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class joint_map {
public:
    joint_map(cuda_kernel& b, const loop_choice& loops) : b_(b), loops_(loops) {}

    void write() {
        source_writer& out = b_.code;
        b_.name_scalars();
        locate_thread();
        for (const array_argument& in : b_.inputs) {
            if (loops_.row_of(in.node) != nullptr) continue;
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                     b_.element(in, b_.offset(in, axis_range(0, b_.rank))), ";");
            b_.body.name(in.node, in.name);
        }
        b_.body.write_folds(b_.graph.roots, out);
        if (loops_.lanes > 1) out.open("if (result < ", results(), " && ", b_.lane(), " == 0)");
        if (loops_.elements > 1) b_.body.open_elements(out);
        for (const array_argument& z : b_.outputs)  // all values before the first store: an output may be an operand
            out.line("const ", b_.needs.type(z.at->head.type), ' ', z.name, " = ",
                     b_.body.value(b_.graph.roots[z.index], out), ";");
        for (const array_argument& z : b_.outputs) b_.store_element(z, b_.offset(z, axis_range(0, b_.rank)), z.name);
        if (loops_.elements > 1) b_.body.close_elements(out);
        if (loops_.lanes > 1) out.close();
    }

private:
    std::vector<int> axes_of_results() const {
        std::vector<int> axes;
        for (int a = 0; a < b_.rank; ++a)
            if (a != loops_.along) axes.push_back(a);
        return axes;
    }
    formula number_of_results() const {
        std::uint64_t axes = 0;
        for (const int a : axes_of_results()) axes |= axis_bit(a);
        return points_of(axes);
    }
    std::string results() { return b_.count(number_of_results(), "results"); }

    void locate_thread() {
        source_writer& out = b_.code;
        const std::string n = results(), thread = b_.thread_index(map_threads), lanes = std::to_string(loops_.lanes);
        b_.step.grid[0] = ceil_divide(number_of_results(), map_threads / loops_.lanes);
        if (loops_.lanes == 1) {
            out.line("const ", b_.linear(), " q = ", thread, ";");
            out.line("if (q >= ", n, ") return;");
        } else {
            out.line("const ", b_.linear(), " result = (", thread, ") / ", lanes, ";");
            out.line("const ", b_.linear(), " q = min(result, ", n, " - 1);");
        }
        b_.write_digits("q", axes_of_results());
    }

    cuda_kernel& b_;
    const loop_choice& loops_;
};

}  // namespace

kernel_shape joint_layout::shape() const {
    return {.name = "joint",
            .threads = map_threads,
            .lanes = loops.lanes,
            .chunks = loops.elements,
            .exchange = loops.lanes > 1 ? thread_exchange::lanes : thread_exchange::none};
}

std::string joint_layout::reason() const {
    return (loops.elements > 1 ? std::to_string(loops.elements) +
                                     " elements of a short axis a thread: what is the same along it is computed once"
                               : "lanes share the turns of a result's long loops: few results fill the GPU") +
           loops.reason();
}

void joint_layout::write(cuda_kernel& b) const {
    b.looping = loops;
    joint_map(b, loops).write();
}

}  // namespace ingot::codegen
