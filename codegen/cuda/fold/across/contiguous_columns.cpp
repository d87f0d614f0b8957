// Columns on CUDA that lie in memory without gaps, folded by vectors of the run that they form, 16 bytes a thread
// whatever their number. The number of active threads is a multiple of the number of columns, so that a thread's next
// vector, that many vectors further on, lies in the same columns. In the end a thread has one column.
#include "codegen/cuda/fold/across/column_fold.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class contiguous_columns final : public column_fold {
public:
    using column_fold::column_fold;

private:
    std::string lane() const override { return "down"; }
    std::string lanes() const override { return "height"; }
    std::string owner() override { return "if (mine && down == 0)"; }
    std::string results_of(const fold_writer& f) const override { return own_in_tile(f.held()); }

    void locate_thread() override {
        column_ = write_run();
        const std::string n = b_.extent(inner_);
        write_outer_digits();
        write_inner_digit(column_);
        if (split_)
            b_.code.line("const ", b_.linear(), " first = ", b_.rank == 1 ? "" : "outer * " + n + " + ", digit(inner_),
                         ";");
        load_invariants(kept_bits());
        b_.code.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[", choice_.room_bytes / 8, "];");
    }

    /// A block has the columns of one place of the outer axes, or of several where these have few vectors. Returns the
    /// text of the column that a thread has in the end.
    std::string write_run() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), width = b_.count(row_width(), "width"),
                          by_width = b_.divisor(row_width(), "by_width"), all = std::to_string(threads_);
        const formula parts =
            ceil_divide(points_of(spaces_[0].bits() | axis_bit(inner_)), each_ * choice_.least_vectors);
        b_.step.grid[0] = ceil_divide(points_of(outer_bits()), points_per_room(threads_, parts));
        if (b_.rank == 1) {
            const std::string most = "quotient(" + all + "u, " + by_width + ')';
            // Steps of whole sectors, which are two vectors, cost no more than a row of threads of many.
            if (choice_.even_steps)
                out.line("const ", type, " most = ", most, ", height = most > 8 ? most - (most & ", width,
                         " & 1) : most;");
            out.line("const ", type, choice_.even_steps ? "" : " height = " + most + ',', " active = height * ", width,
                     ", lane = threadIdx.x;");
            out.line("const ", type, " down = quotient(lane, ", by_width, ");");
            out.line("const bool mine = down < height;");
        } else {
            const std::string outers = b_.count(points_of(outer_bits()), "outers");
            out.line("const ", type, " groups = (", outers, " + gridDim.x - 1) / gridDim.x;");
            out.line("const ", type, " height = quotient(", all, "u, ", by_width, ") / groups, active = height * ",
                     width, ";");
            out.line("const ", type, " group = threadIdx.x / active, lane = threadIdx.x - group * active;");
            out.line("const ", type, " at = ", block(), " * groups + group;");
            out.line("const bool mine = group < groups && at < ", outers, ";");
            // Threads outside any whole group get a row below all others.
            out.line("const ", type, " down = group < groups ? quotient(lane, ", by_width, ") : height;");
            out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
        }
        return "(lane - quotient(lane, " + by_width + ") * " + width + ')';
    }

    /// The text of the address of vector `at`.
    std::string address_in_run(const array_argument& in, const std::string& at) const {
        return in.name + "_from + (" + at + ')' + (each_ == 1 ? "" : " * " + std::to_string(each_));
    }

    void write_loads(const folded_space& s, const std::string& at) override {
        load_vectors(s, [&](const array_argument& in) { return address_in_run(in, at); });
    }

    /// A thread each folds the elements before the first whole vector and behind the last, fewer than two vectors.
    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        std::vector<fold_writer>& folds = folds_[0];
        const std::vector<const array_argument*> inputs = inputs_of(s);
        const std::string type = b_.linear(), u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
        const std::uint64_t cells = s.bits() | axis_bit(inner_);
        const std::string n = b_.count(points_of(cells), "cells"), each = std::to_string(each_);
        if (shares_results()) declare_sharing();
        declare_results(folds);
        const auto outside = b_.body.scope();
        out.open();
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_run = ", b_.pointer(*in),
                     b_.offset(*in, outer_bits()), ";");
        out.line("const ", type, " head = min(", n, ", ", type, "(-(reinterpret_cast<", u8, ">(", inputs[0]->name,
                 "_run) / ", bytes_of(*inputs[0]), ") % ", each, "));");
        out.line("const ", type, " vectors = (", n, " - head) / ", each, ", edges = ", n, " - vectors * ", each, ";");
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.edge(), " = ", f.start(), ";");
        out.open("if (", split_ ? "blockIdx.y == 0 && " : "", "mine && lane < edges)");
        out.line("const ", type, " at = lane < head ? lane : lane + vectors * ", each, ";");
        for (const array_argument* in : inputs) {
            out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", in->name, "_run[at];");
            b_.body.name(in->node, in->name);
        }
        for (fold_writer& f : folds) {
            const std::string value = f.entry(b_.body.value(f.value(), out), "at");
            out.line(f.edge(), " = ", f.of_one(value), ";");
        }
        out.close();
        b_.body.leave(outside);
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_from = ", in->name,
                     "_run + head;");
        for (fold_writer& f : folds) declare_in_tile(f.type(), f.held(), f.start());
        declare_parts(folds);
        const std::uint32_t tile = choice_.unroll[0];
        const std::string tiles = std::to_string(tile) + " * active";
        if (split_) {  // rounds of whole tiles, then even pieces of the rest
            const std::string width = b_.count(row_width(), "width");
            out.line("const ", type, " round = gridDim.y * ", tiles, ", rounds = vectors / round * round;");
            out.line(type, " k = blockIdx.y * ", tiles, " + lane, end = mine ? rounds : 0;");
            if (choice_.tiles_ahead)
                write_tiles_ahead(
                    0, tile, " * active", "round", "active", [](const std::string& at) { return at + " < end"; },
                    [&](const array_argument& in, const std::string& at) { return address_in_run(in, at); });
            out.open("for (bool of_round = true; of_round; k += round)");
            out.open("if (k >= end)");
            if (shares_results()) elect_finisher();
            out.line("const ", type, " pieces = gridDim.y * ", width,
                     ", piece = (vectors - rounds + pieces - 1) / pieces * ", width, ";");
            out.line("of_round = false, k = rounds + blockIdx.y * piece + lane;");
            out.line("end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;");
            out.close();
            out.open("if (k < end)");
            write_tile(0, tile, " * active", "end");
            out.close();
            flush_parts(folds, 1, "!of_round");
            out.close();
            b_.body.leave(outside);
        } else {
            out.line("const ", type, " end = mine ? vectors : 0;");
            out.line(type, " k = lane;");
            write_tiles(0, tile, " * active", "end", tiles);
        }
        if (!split_ || !has_rounds(folds)) join_parts(folds);
        add_run_of_columns();
        out.line("const run_of_columns run{", b_.count(row_width(), "width"), ", ", column_, ", down, ",
                 "height, head, vectors * ", each, ", edges, ",
                 b_.rank == 1 ? std::string("0") : "group < groups ? group * active : 0", ", ",
                 b_.divisor(row_width(), "by_width"), "};");
        for (fold_writer& f : folds)
            out.line(f.name(), " = ", add_join_run(f), '<', f.joiner(), ", ", each_, ", ", threads_, ">(",
                     each_ == 1 ? "&" : "", f.held(), ", ", f.edge(), ", ", f.start(), ", room, run);");
        b_.body.leave(outside);
        out.close();
    }

    void add_run_of_columns() {
        b_.needs.add("run_of_columns",
                     "/// Locates this thread's column among the vectors of its group of threads.\n"
                     "struct run_of_columns {\n    " +
                         b_.linear() +
                         " width, column, down, height, head, tail, edges, first_thread;\n    divisor by_width;\n};\n");
    }

    std::string add_join_run(const fold_writer& f) {
        const std::string index = b_.linear(), name = f.joins_at_once() ? "join_run_at_once" : "join_run";
        const std::string all = f.joins_at_once() ? "fold::join_all(parts)" : b_.join_pairs("fold", each_, "parts");
        b_.needs.add(
            name,
            "/// Regroups the partial results of the threads, n variables and an edge element each, by column. The\n"
            "/// `height` threads of a column return one part of its result each.\n"
            "template <class fold, int n, int threads, class type>\n"
            "__device__ __forceinline__ type " +
                name +
                "(const type* v, type edge, type start, void* room, run_of_columns run) {\n"
                "    type* const cells = static_cast<type*>(room);\n"
                "    type* const edges = cells + n * threads;\n"
                "    __syncthreads();\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i) cells[threadIdx.x * n + i] = v[i];\n"
                "    edges[threadIdx.x] = edge;\n"
                "    __syncthreads();\n"
                "    if (run.down >= run.height) return start;\n"
                "    const " +
                index +
                " shift = run.head - quotient(run.head, run.by_width) * run.width;\n"
                "    const " +
                index +
                " first = run.column < shift ? run.column + run.width - shift : run.column - shift;\n"
                "    const type* const own = cells + run.first_thread * n + first;\n"
                "    type parts[n];\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i) parts[i] = own[(run.down + i * run.height) * run.width];\n"
                "    type all = " +
                all + ";\n    for (" + index +
                " i = 0; run.down == 0 && i < run.edges; ++i) {\n"
                "        const " +
                index +
                " at = i < run.head ? i : i + run.tail;\n"
                "        if (at - quotient(at, run.by_width) * run.width == run.column)\n"
                "            all = fold::join(all, edges[run.first_thread + i]);\n"
                "    }\n"
                "    return all;\n}\n");
        return name;
    }

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        combine_down(f, joiner, variable, "p.width");
    }
    void share(fold_writer& f) override { share_down(f, "p.width"); }

    void write_ending() override {
        if (!shares_results()) return cuda_fold::write_ending();
        combine_all();
        const auto located = b_.body.scope();
        b_.code.open("if (gridDim.y > 1)");
        publish_all("slots + first", "blockIdx.y");
        write_shared_finish("gridDim.y");
        b_.code.line("return;");
        b_.code.close();
        b_.body.leave(located);
        write_results(owner());
    }

    std::string column_;  // the text of the column that this thread has in the end
};

}  // namespace

void emit_contiguous_columns_cuda(cuda_kernel& b, const folded_kernel& f, const column_fold_choice& c, plan& p) {
    contiguous_columns(b, f, c).write(p);
}

}  // namespace ingot::codegen
