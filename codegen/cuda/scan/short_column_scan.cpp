// Scans of short columns for CUDA, where memory runs across the rows: a thread has a column, neighbours read
// neighbours. Several elements of a column are loaded at once, of the shortest columns all; the rest of a column is
// loaded one by one.
#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

namespace {

class short_column_scan : cuda_scan {
public:
    short_column_scan(cuda_kernel& b, const scanning& s, const short_column_scan_layout& c)
        : cuda_scan(b, s, c.threads, 1), layout_(c) {}

    void write() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), n = scanned();
        b_.step.grid[0] = ceil_divide(points_of(kept_bits()), threads_);
        out.line("const ", index, " row = ", b_.thread_index(threads_), ";");
        out.line("if (row >= ", b_.count(points_of(kept_bits()), "rows"), ") return;");
        b_.write_digits("row", axes_without(b_.rank, s_.axis));
        read_fixed();
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
        const std::string unroll = std::to_string(layout_.chunks);
        if (!layout_.loops) return write_part(layout_.chunks, "u", n);
        out.line(index, " first = 0;");
        out.open("for (; first + ", unroll, " <= ", n, "; first += ", unroll, ")");
        write_part(layout_.chunks, "first + u");
        out.close();
        out.open("for (; first < ", n, "; ++first)");
        write_part(1, "first + u");
        out.close();
    }

    /// Scans `count` elements, element u at the place `index`; where `end` is given, only u < end.
    void write_part(std::uint32_t count, const std::string& index, const std::string& end = "") {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        for (const array_argument* in : inputs_) {
            out.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', count, "];");
            b_.body.name(in->node, in->name + "[u]");
        }
        if (!inputs_.empty()) {
            b_.open_unrolled("u", count);
            leave_at(end);
            b_.write_digits(index, {s_.axis});
            for (const array_argument* in : inputs_)
                out.line(in->name, "[u] = ", b_.element(*in, b_.offset(*in, all_bits())), ";");
            out.close();
        }
        b_.open_unrolled("u", count);
        leave_at(end);
        b_.write_digits(index, {s_.axis});
        for (const node_id g : generators_) b_.body.name(g, random_element(g, all_bits()));
        for (fold_writer& f : folds_) {
            out.line(f.name(), " = ", f.wide_joiner(), "::join(", f.name(), ", ", b_.body.value(f.value(), out), ");");
            b_.body.name(f.reduction(), f.wide_type() == f.type() ? f.name() : f.type() + '(' + f.name() + ')');
        }
        std::vector<std::string> values;
        for (const node_id root : b_.graph.roots) values.push_back(b_.body.value(root, out));
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
        out.close();
        b_.body.leave(outside);
    }

    void leave_at(const std::string& end) {
        if (!end.empty()) b_.code.line("if (u >= ", end, ") break;");
    }

    const short_column_scan_layout& layout_;
};

}  // namespace

/// For columns enough to fill the GPU. All loads of a column known to be short are in flight at once.
short_column_scan_layout choose_short_columns(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t usual = 8, most = 16;
    const bool loops = s.longest() > most || s.longest() * element_cost(b, s) > statement_budget;
    return {loops ? usual : s.longest(), loops};
}

kernel_shape short_column_scan_layout::shape() const {
    return {.name = "short columns", .threads = threads, .chunks = chunks};
}

std::string short_column_scan_layout::reason() const {
    return "a thread a column, neighbours read neighbours: columns enough to fill the GPU, none waits for another";
}

void short_column_scan_layout::write(cuda_kernel& b, const scanning& s) const {
    short_column_scan(b, s, *this).write();
}

}  // namespace ingot::codegen
