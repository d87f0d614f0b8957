// Scans of short columns for CUDA, where memory runs across the rows: a thread has a column, neighbours read
// neighbours. Several elements of a column are loaded at once, of the shortest columns all; the rest of a column is
// loaded one by one.
#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

namespace {

class short_column_scan : cuda_scan {
public:
    using cuda_scan::cuda_scan;

    void write(plan& p) {
        write_columns();
        finish(p);
    }

private:
    void write_columns() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), n = scanned();
        b_.step.grid[0] = ceil_divide(points_of(kept_bits()), threads_);
        out.line("const ", index, " row = ", b_.thread_index(threads_), ";");
        out.line("if (row >= ", b_.count(points_of(kept_bits()), "rows"), ") return;");
        b_.write_digits("row", axes_without(b_.rank, s_.axis));
        read_fixed();
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
        const std::string unroll = std::to_string(choice_.register_chunks);
        if (!choice_.loops) return write_part(choice_.register_chunks, "u", n);
        out.line(index, " first = 0;");
        out.open("for (; first + ", unroll, " <= ", n, "; first += ", unroll, ")");
        write_part(choice_.register_chunks, "first + u");
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
};

}  // namespace

void emit_short_column_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p) {
    short_column_scan(b, s, c).write(p);
}

}  // namespace ingot::codegen
