// The map kernel for CUDA whose threads have elements some apart on an axis that an earlier step folded, and read that
// step's results once. Neighbours read neighbours; along the inner axis a thread's elements are a block apart.
#include "codegen/cuda/map/map_writer.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class along_map final : public apart_writer {
public:
    along_map(cuda_kernel& b, const along_layout& c) : apart_writer(b, c.each), layout_(c), folded_(c.folded) {}

private:
    void write_elements() override {
        source_writer& out = b_.code;
        const std::uint64_t still = all_axes() & ~axis_bit(folded_);
        locate_thread();
        for (const array_argument& in : b_.inputs) {
            const std::string type = b_.needs.type(in.at->head.type);
            if (!moves(in)) continue;
            if (moves_along(in)) {
                out.line(type, ' ', in.name, '[', elements_, "] = {};");
                b_.body.name(in.node, in.name + "[e]");
            } else {
                out.line("const ", type, ' ', in.name, " = ", b_.element(in, b_.offset(in, still)), ";");
                b_.body.name(in.node, in.name);
            }
        }
        open_present();
        for (const array_argument& in : b_.inputs)
            if (moves_along(in)) out.line(in.name, "[e] = ", b_.element(in, b_.offset(in, all_axes())), ";");
        close_present();
        b_.body.hoist(still, b_.graph.roots, out);
        compute_elements();
        open_present();
        for (const array_argument& z : b_.outputs) b_.store_element(z, b_.offset(z, all_axes()), z.name + "[e]");
        close_present();
    }

    bool moves_along(const array_argument& in) const { return b_.moves_along(in, axis_bit(folded_)); }
    /// The digits of the thread's first element; `first` is its digit along the axis. Groups of the axis are as long as
    /// all elements of a thread with those between them.
    void locate_thread() {
        source_writer& out = b_.code;
        const formula groups = ceil_divide(points_of(axis_bit(folded_)), elements_ * layout_.stride);
        const formula all = points_of(axis_range(0, b_.rank) & ~axis_bit(folded_)) * groups;
        b_.step.grid[0] = ceil_divide(all, threads / layout_.stride);
        const std::string type = b_.linear(), far = std::to_string(layout_.stride) + 'u';
        b_.extent(folded_);
        out.line("const ", type, " q = ", b_.thread_index(threads), ";");
        out.line("if (q >= ", b_.count(all, "groups"), " * ", far, ") return;");
        std::string rest = "q";
        if (folded_ != inner_) {
            const formula within = points_of(axis_range(folded_ + 1, b_.rank));
            const std::string inside = b_.count(within, "inside"), by_inside = b_.divisor(within, "by_inside");
            out.line("const ", type, " line = quotient(q, ", by_inside, "), inside = q - line * ", inside, ";");
            b_.write_digits("inside", axes_in(axis_range(folded_ + 1, b_.rank)));
            rest = "line";
        }
        std::string group = rest + " / " + far;
        if (folded_ > 0) {
            out.line("const ", type, " outer = quotient(", group, ", ", b_.divisor(groups, "by_groups"), ");");
            b_.write_digits("outer", axes_in(axis_range(0, folded_)));
            group = '(' + group + " - outer * " + b_.count(groups, "groups_along") + ')';
        }
        out.line("const ", type, " first = ", group, " * ", elements_ * layout_.stride, " + ", rest, " % ", far, ";");
    }

    /// The digit of element e along the axis.
    std::string place_of_element() const { return "first + e * " + std::to_string(layout_.stride) + 'u'; }
    std::string is_absent() override { return place_of_element() + " >= " + b_.extent(folded_); }

    /// The loop over the thread's elements that exist, with the digit along the axis.
    void open_present() {
        open_unrolled_elements();
        b_.code.open("if (", place_of_element(), " < ", b_.extent(folded_), ")");
        b_.code.line("const ", b_.signed_index(), ' ', digit(folded_), " = ", b_.signed_index(), '(',
                     place_of_element(), ");");
    }

    void close_present() {
        b_.code.close();
        b_.code.close();
    }

    const along_layout& layout_;
    const int folded_;
};

}  // namespace

/// More elements share the reads of results, but leave fewer threads with loads in flight.
along_layout choose_along(const cuda_kernel& b, int folded) {
    const std::uint32_t vector =
        elements_of_vector(b, false, [&](const array_argument& in) { return b.moves_along(in, axis_bit(folded)); });
    return {folded, elements_within(b, 2 * vector), folded == b.rank - 1 ? map_threads : 32};
}

kernel_shape along_layout::shape() const { return {.name = "along", .threads = map_threads, .chunks = each}; }

std::string along_layout::reason() const {
    return std::to_string(each) + " elements a thread, apart on the axis that has been folded: results are read once";
}

void along_layout::write(cuda_kernel& b) const { along_map(b, *this).write(); }

}  // namespace ingot::codegen
