// Scans of short columns, where memory runs across the rows, for CUDA: a thread has a column, neighbours read
// neighbours. Some elements are on their way at once; what is left of a column goes one by one.
#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t column_threads = 256, column_loads = 8;  // of a block; in flight, of a thread

class short_column_scan : cuda_scan {
public:
    short_column_scan(const key& k, const graph& g, const scanning& s) : cuda_scan(k, g, s) {}

    void write(plan& p) {
        b_.name_scalars();
        write_columns();
        b_.step.pattern = "column scan";
        b_.step.reason =
            "a thread a column, neighbours read neighbours: columns enough to fill the GPU, none waits for another";
        finish(p, column_threads, std::to_string(column_threads));
    }

private:
    void write_columns() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), n = scanned();
        b_.step.grid[0] = {.axes = kept_bits(), .divide_by = column_threads};
        out.line("const ", index, " row = ", b_.thread_index(column_threads), ";");
        out.line("if (row >= ", b_.count({.axes = kept_bits()}, "rows"), ") return;");
        b_.write_digits("row", axes_without(b_.rank, s_.axis));
        read_fixed();
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
        const std::string unroll = std::to_string(column_loads);
        out.line(index, " first = 0;");
        out.open("for (; first + ", unroll, " <= ", n, "; first += ", unroll, ")");
        write_part(column_loads);
        out.close();
        out.open("for (; first < ", n, "; ++first)");
        write_part(1);
        out.close();
    }

    void write_part(std::uint32_t count) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        const std::vector<const place*> inputs = inputs_along();
        for (const place* in : inputs) {
            out.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', count, "];");
            b_.body.name(in->node, in->name + "[u]");
        }
        if (!inputs.empty()) {
            b_.open_unrolled("u", count);
            b_.write_digits("first + u", {s_.axis});
            for (const place* in : inputs)
                out.line(in->name, "[u] = ", b_.element(*in, b_.offset(*in, all_bits())), ";");
            out.close();
        }
        b_.open_unrolled("u", count);
        b_.write_digits("first + u", {s_.axis});
        for (const node_id g : generators_along()) b_.body.name(g, random_element(g, all_bits()));
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
};

}  // namespace

void emit_short_column_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) {
    short_column_scan(k, g, s).write(p);
}

}  // namespace ingot::codegen
